#!/usr/bin/env bash
# Writes the cluster file of a StatefulSet to standard output: its pods' names, and who serves what.
#
#   deploy/kubernetes/cluster_file.sh --shards 4 [--copies 2] [--pods 8] [--namespace NAME]
#       [--name vicinity] [--service vicinity] [--data /data/shards] [--changes /data/changes] [--open]
#
# --copies is how many servers have each shard (1), --pods how many servers there are (shards times
# copies). With as many pods as shards times copies, pod i serves shard i modulo the shards: adding
# copies leaves what earlier pods serve as it was, so that none of them is started again.
set -euo pipefail

fail() {
  echo "cluster_file: $*" >&2
  exit 2
}

shards=0 copies=1 pods=0 namespace=default name=vicinity service=vicinity data=/data/shards
changes="" open=false
while [[ $# -gt 0 ]]; do
  case "$1" in
    --open) open=true; shift; continue ;;
    --shards | --copies | --pods)
      [[ "${2-}" =~ ^[1-9][0-9]{0,5}$ ]] || fail "$1 ${2-}: not a number above 0" ;;
    --namespace | --name | --service)
      [[ "${2-}" =~ ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$ ]] \
        || fail "$1 ${2-}: not a name that Kubernetes takes" ;;
    --data | --changes) [[ "${2-}" == /* ]] || fail "$1 ${2-}: not a path from the root" ;;
    *) fail "unknown argument '$1'; see the head of $0" ;;
  esac
  printf -v "${1#--}" %s "$2"
  shift 2
done
((shards > 0)) || fail "--shards is missing"
((pods > 0)) || pods=$((shards * copies))
((copies <= pods)) || fail "--copies $copies: more than there are pods ($pods)"
((pods <= shards * copies)) || fail "--pods $pods: more than shards times copies ($((shards * copies)))"
[[ -z "$changes" ]] || ((copies == 1)) || fail "--changes goes with one copy: another writer is appointed at admin addresses, which this file has not"

# Copy c of shard s is on pod s + c x shards, counted around, if that brings all copies to pods of their
# own; else the copies of shard 0 are on the first pods, those of shard 1 on the next, and so on.
in_turn=false
for ((copy = 1; copy < copies; copy++)); do
  if ((copy * shards % pods == 0)); then in_turn=true; fi
done
served=()
for ((copy = 0; copy < copies; copy++)); do
  for ((shard = 0; shard < shards; shard++)); do
    pod=$(((shard + copy * shards) % pods))
    if $in_turn; then pod=$(((shard * copies + copy) % pods)); fi
    served[pod]="${served[pod]:+${served[pod]}, }$shard"
  done
done

echo "data: \"$data\""
echo "num_shards: $shards"
if [[ -n "$changes" ]]; then echo "changes: \"$changes\""; fi
echo 'bulk: "0.0.0.0:7510"'
if $open; then
  echo "open: true"
else
  echo 'tls { certificate: "/etc/vicinity-tls/server.pem" ca: "/etc/vicinity-tls/ca.pem" revoked: "/etc/vicinity-tls/revoked.pem" }'
fi
for ((pod = 0; pod < pods; pod++)); do
  echo "servers {"
  echo "  name: \"$name-$pod\""
  echo "  listen: \"0.0.0.0:7500\""
  echo "  advertise: \"$name-$pod.$service.$namespace.svc.cluster.local:7500\""
  echo "  shards: [${served[pod]}]"
  echo "}"
done

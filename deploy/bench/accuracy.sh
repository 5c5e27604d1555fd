#!/usr/bin/env bash
# Does training through the service give the model that training without it gives? Repeats the
# quick start's comparison with several seeds: mean, deviation, and whether they agree.
#
#   deploy/bench.sh accuracy [--seeds N] [--trainers N] [--shards K] [--epochs N]
#                            [--format table|json] [--work DIR]
#
# A seed decides the weights at the start, the order of the seeds and every draw. Some minutes a
# seed on two cores. --work keeps the graph and its shards for the next run.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
. "$root/deploy/lib/local_cluster.sh"
. "$root/deploy/lib/demo.sh"

num_seeds=5
num_trainers=2
num_shards=4
format=table
work=""
keep=false
while (($# > 0)); do
  if [[ "$1" == --*=* ]]; then set -- "${1%%=*}" "${1#*=}" "${@:2}"; fi
  (($# > 1)) || fail "$1 needs a value, or is unknown"
  case "$1" in
    --seeds) num_seeds="$2" ;;
    --trainers) num_trainers="$2" ;;
    --shards) num_shards="$2" ;;
    --epochs) demo_epochs="$2" ;;
    --format) format="$2" ;;
    --work) work="$2" && keep=true ;;
    *) fail "unknown option '$1'; the head of $0 tells the options" ;;
  esac
  shift 2
done
[[ "$num_seeds$num_trainers$num_shards$demo_epochs" =~ ^[0-9]+$ ]] || fail "a count is no number"
[[ $format == table || $format == json ]] || fail "--format $format: table or json"

if $keep; then
  mkdir -p "$work"
  work="$(cd "$work" && pwd)"
else
  work="$(mktemp -d "${TMPDIR:-/tmp}/vicinity-accuracy.XXXXXX")"
fi
clean_up() {
  stop_processes
  if ! $keep; then rm -rf "$work"; fi
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Figures go to standard output, all else to standard error.
{
  set_up_and_build
  if ! dataset_ready "$work/graph" wordnet; then
    deploy/wordnet.py "$work/wordnet"
    vicinity import --description "$work/wordnet/wordnet.textproto" --output "$work/graph"
    echo wordnet > "$work/graph.stamp"
  fi
  make_shards "$work/graph" "$num_shards" "$num_trainers"
  start_servers "$work/shards" "$num_shards" "$work/cluster"
  mkdir -p "$work/reports"
  rm -f "$work"/reports/*
  for ((seed = 1; seed <= num_seeds; seed++)); do
    echo "== seed $seed of $num_seeds"
    train_together "$seed" "$num_trainers" "$work/cluster/cluster.textproto"
    train_alone "$seed" "$num_trainers" "$work/graph"
    train_linear "$seed" "$work/graph"
    for model in service single linear; do
      mv "$work/$model.0.jsonl" "$work/reports/$model.$seed.jsonl"
    done
  done
} >&2
deploy/lib/accuracy_summary.py --format "$format" "$work/reports"

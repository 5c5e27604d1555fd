#!/usr/bin/env bash
# The main job on this machine, from nothing: builds Vicinity, makes a graph of WordNet, cuts it in
# shards, serves each by a vicinityd, trains a GNN on it with several trainers, and shows what the
# service costs and what a cache saves. Every figure is measured in this run.
#
#   deploy/quickstart.sh [OPTIONS] [-- OPTIONS OF vicinity_train]
#
#   --graph FILE|DIR   a graph of yours: a description for `vicinity import`, or what it made
#   --trainers N       trainer processes (2)
#   --shards K         shards, and servers (4)
#   --cache ROWS       remote rows that each trainer keeps while it trains, in a look-ahead pool
#                      (none); also measured
#   --epochs N         times through the training nodes (4)
#   --work DIR         keep all files here, and use again what is here
#   --keep             keep the files though --work is not given
#
# It takes some minutes on two cores, the first build not counted, and leaves nothing running.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
. "$root/deploy/lib/local_cluster.sh"
. "$root/deploy/lib/demo.sh"

graph=""
num_trainers=2
num_shards=4
cache_rows=0
work=""
keep=false

# value_of OPTION [VALUE]
value_of() {
  if (($# < 2)) || [[ -z "$2" ]]; then fail "$1 needs a value"; fi
  echo "$2"
}
count_of() {
  local value
  value="$(value_of "$@")"
  [[ "$value" =~ ^[1-9][0-9]*$ ]] || fail "$1 $value: not a number above 0"
  echo "$value"
}
while (($# > 0)); do
  case "$1" in
    --graph) graph="$(value_of "${@:1:2}")" && shift ;;
    --trainers) num_trainers="$(count_of "${@:1:2}")" && shift ;;
    --shards) num_shards="$(count_of "${@:1:2}")" && shift ;;
    --cache) cache_rows="$(count_of "${@:1:2}")" && shift ;;
    --epochs) demo_epochs="$(count_of "${@:1:2}")" && shift ;;
    --work) work="$(value_of "${@:1:2}")" && shift ;;
    --keep) keep=true ;;
    --help | -h) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" && exit 0 ;;
    --) shift && break ;;
    *) fail "unknown option '$1'; --help tells the options" ;;
  esac
  shift
done
trainer_options=("$@")
if [[ -n "$graph" ]]; then
  [[ -e "$graph" ]] || fail "$graph: no such file or folder"
  graph="$(realpath "$graph")"
fi
((num_trainers <= demo_batch)) || fail "more trainers than seeds in a batch"

if [[ -n "$work" ]]; then
  mkdir -p "$work"
  work="$(cd "$work" && pwd)"
  keep=true
else
  work="$(mktemp -d "${TMPDIR:-/tmp}/vicinity-quickstart.XXXXXX")"
fi
clean_up() {
  stop_processes
  if ! $keep; then rm -rf "$work"; fi
}
trap clean_up EXIT
trap 'exit 130' INT TERM

step=0
# heading TEXT: what comes next, and how long it has all taken so far.
heading() {
  step=$((step + 1))
  printf '\n== %d. %s   [%d s]\n' "$step" "$1" "$SECONDS"
}

# --- The steps: a function each, called in order at the end. ------------------------------------

import_graph() {
  if [[ -z "$graph" ]]; then
    heading "WordNet becomes a graph: a node a synset, an edge a pointer, 256 features of its text"
    if [[ -f "$work/wordnet/wordnet.textproto" ]]; then
      echo "$work/wordnet is there already"
    else
      show deploy/wordnet.py "$work/wordnet"
    fi
    graph="$work/wordnet/wordnet.textproto"
  fi
  if [[ -d "$graph" ]]; then
    data="$graph"
    return
  fi
  heading "Import: from text and .npy files to a dataset that servers and trainers map"
  data="$work/graph"
  local stamp
  stamp="$(sha256sum < "$graph")"
  if dataset_ready "$data" "$stamp"; then
    echo "$data is there already"
    return
  fi
  show vicinity import --description "$graph" --output "$data"
  echo "$stamp" > "$data.stamp"
}

partition_graph() {
  heading "Partition: $num_shards shards, few edges between them, ranked for $num_trainers trainers"
  make_shards "$data" "$num_shards" "$num_trainers"
  read -r reach num_rows node < <(vicinity describe --data "$work/shards" --format json \
    | deploy/lib/dataset_facts.py)
  # WordNet's ids are strings; this one is the dog's.
  if [[ "$graph" == "$work/wordnet/"* ]]; then node=n02084071; fi
  if [[ $reach == fetch ]]; then
    # Without training nodes nothing was ranked yet.
    show vicinity rank "$work/shards" --seeds all --fanouts "$demo_fanouts" \
      --homes "$(all_homes "$num_trainers" "$num_shards")" --batch-size "$batch"
  fi
}

start_cluster() {
  heading "Serve: a vicinityd a shard, on this machine's loopback device"
  start_servers "$work/shards" "$num_shards" "$work/cluster"
  cluster="$work/cluster/cluster.textproto"
  echo "$num_shards servers are up; $cluster says where:"
  sed 's/^/  /' "$cluster"
  # The edge types were in the import's table.
  show vicinity describe --cluster "$cluster" | sed '/^EDGE TYPE/,/^$/d'
  show vicinity status --cluster "$cluster"
}

train_models() {
  local cached=()
  if ((cache_rows > 0)); then cached=(--cache auto --cache-rows "$cache_rows"); fi
  heading "Train a ${#fanouts[@]}-layer GraphSAGE through the service: $num_trainers trainers"
  cat << TEXT
Each of the $num_trainers trainers maps the files of its home shards; neighbours and rows of all
other nodes come from the servers. A step is $demo_batch seeds from anywhere in the graph, $batch
a trainer, and gradients are averaged over the trainers. The defaults of vicinity_train are wider
and longer (hidden 256, 10 epochs, dropout 0.5): here hidden $demo_hidden, $demo_epochs epochs and
no dropout, which two cores do while you wait.
TEXT
  train_together 1 "$num_trainers" "$cluster" "${cached[@]}" "${trainer_options[@]}"

  heading "Train the same model in one process, without the service"
  train_alone 1 "$num_trainers" "$data" "${trainer_options[@]}"

  heading "Train a linear model on the features alone: what the graph is worth"
  train_linear 1 "$data" "${trainer_options[@]}"
}

# load_only NAME OPTIONS: batches made, held as long as a small model would train on them, and
# dropped; of three epochs, since the first fills caches and only the third follows the one before it
# without a break.
load_only() {
  local name="$1"
  shift
  train_group "$name" "$num_trainers" "$work" --cluster "$cluster" --model none --step-ms 60 --epochs 3 \
    --fanouts "$demo_fanouts" --batch-size "$batch" --seed 1 --seed-policy home "$@" \
    "${trainer_options[@]}" > /dev/null
}

# foretell POLICY ROWS,...: what trainers that keep so many rows so will fetch, to a file.
foretell() {
  local trainers_per_home=$(((num_trainers + num_shards - 1) / num_shards)) seeds=train
  if [[ $reach == fetch ]]; then seeds=all; fi
  vicinity plan "$work/shards" --policy "$1" --seed-policy home --fanouts "$demo_fanouts" \
    --homes "$(all_homes "$num_trainers" "$num_shards")" --batch-size "$batch" --seeds "$seeds" \
    --trainers-per-home "$trainers_per_home" --cache-rows "$2" --format json > "$work/plan-$1.json"
}

measure_traffic() {
  heading "Rows fetched, by what a trainer keeps"
  # A half, three quarters and all of a mean shard's rows, and what was asked for.
  local size sizes runs
  local mean=$((num_rows / num_shards))
  mapfile -t sizes < <(printf '%d\n' $((mean / 2)) $((mean * 3 / 4)) "$mean" "$cache_rows" \
    | sort -nu)
  load_only traffic-all --cache none
  load_only traffic-0 --local-shards HOME --cache none
  foretell none 0
  foretell vip "$(IFS=, && echo "${sizes[*]}")"
  foretell auto "$(IFS=, && echo "${sizes[*]}")"
  runs=("servers alone=$work/traffic-all"
    "home shards mapped, nothing kept=$work/traffic-0=$work/plan-none.json")
  for size in "${sizes[@]}"; do
    if ((size == 0)); then continue; fi
    load_only "traffic-vip-$size" --local-shards HOME --cache vip --cache-rows "$size"
    load_only "traffic-auto-$size" --local-shards HOME --cache auto --cache-rows "$size"
    runs+=("home shards mapped, likeliest kept=$work/traffic-vip-$size=$work/plan-vip.json"
      "home shards mapped, soonest needed kept=$work/traffic-auto-$size=$work/plan-auto.json")
  done
  cat << TEXT
The third epoch of batches that no model reads: $num_trainers trainers, each with the seeds of its home
shards, $batch a batch, and a cache of its own, which has room for the rows of batches in flight, too:
of the likeliest rows, or of those that batches sampled ahead need soonest (the default). Batches in
flight share their rows in all of these lines. Foretold by vicinity plan, which no server was asked for.
TEXT
  deploy/lib/tables.py traffic "${runs[@]}"
}

ask_cluster() {
  heading "Ask the running cluster"
  if [[ $node != - ]]; then
    show vicinity get --cluster "$cluster" --id "$node"
    show vicinity sample --cluster "$cluster" --seeds "$node" --fanouts 2,2
  fi
  show vicinity status --cluster "$cluster"
}

secure_cluster() {
  heading "Beyond this machine: a server that answers clients with certificates alone"
  local folder="$work/certificates" port
  rm -rf "$folder" "$work/secure.ready"
  show vicinity certificate ca --folder "$folder"
  show vicinity certificate server localhost --folder "$folder"
  show vicinity certificate client trainer --folder "$folder"
  local options=(--data "$work/shards" --listen 127.0.0.1:0 --tls-ca "$folder/ca.pem"
    --tls-certificate "$folder/localhost.pem" --tls-revoked "$folder/revoked.pem")
  printf '$ vicinityd %s\n' "${options[*]}"
  "$programs/server/vicinityd" "${options[@]}" --ready-file "$work/secure.ready" \
    > "$work/secure.log" 2>&1 &
  server_pids+=($!)
  await_ready $! "$work/secure"
  port="$(sed 's/.*://' "$work/secure.ready")"
  show vicinity status --server "localhost:$port" --ca "$folder/ca.pem" \
    --certificate "$folder/trainer.pem"
  echo "And without a certificate:"
  if show vicinity status --server "localhost:$port" --ca "$folder/ca.pem"; then
    fail "a client without a certificate was let in"
  fi
}

summarize() {
  heading "What came out"
  deploy/lib/tables.py accuracy \
    "GraphSAGE, $num_trainers trainers, $num_shards servers=$work/service.0.jsonl" \
    "GraphSAGE, one process, no server=$work/single.0.jsonl" \
    "linear, features alone=$work/linear.0.jsonl"
  cat << TEXT
With and without the service the batches are the same, draw for draw, as far as they deal out
evenly over the trainers, and so is the model but for the order of additions. deploy/bench.sh
accuracy repeats all three over five seeds.
TEXT
}

what_next() {
  heading "What to try next"
  cat << TEXT
  deploy/quickstart.sh --trainers 4 --shards 8      more of both
  deploy/quickstart.sh --graph YOUR.textproto       a graph of yours: docs/cli.md, import
  bazel-bin/client/train/vicinity_train --help      the defaults, and every option
  docs/life_of_a_minibatch.md                       how a batch comes to be, with file names
  docs/security.md                                  servers on other machines, certificates, roles
TEXT
  if $keep; then echo "All files are in $work."; fi
}

# --- Run them. ---------------------------------------------------------------------------------

heading "Set up and build"
set_up_and_build
SECONDS=0
batch=$((demo_batch / num_trainers))
IFS=, read -ra fanouts <<< "$demo_fanouts"
import_graph
partition_graph
start_cluster
if [[ $reach == train ]]; then
  train_models
else
  heading "No training: the graph lacks features, or labels and a split"
fi
if [[ $reach != sample ]]; then measure_traffic; fi
ask_cluster
secure_cluster
if [[ $reach == train ]]; then summarize; fi
what_next
printf '\nAll servers are stopped. It took %d s after the build.\n' "$SECONDS"

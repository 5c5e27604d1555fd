# shellcheck shell=bash disable=SC2154  # `root` and others come from whoever sources it
# Functions that run Vicinity's programs on this machine: sourced by scripts in deploy, not run.
#
# The scripts that source it set `root`, the source tree. Servers and trainers are ended by their
# process ids; call stop_processes from a trap on EXIT.

server_pids=()
trainer_pids=()

# Spinning OpenMP threads would take the cores that servers and loaders need.
export OMP_WAIT_POLICY=passive

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

vicinity() { "$programs/client/cli/vicinity" "$@"; }

# Prints a command as a user would type it, then runs it.
show() {
  printf '$ %s\n' "$*"
  "$@"
}

# set_up_and_build: packages, then the three programs; `programs` is the folder they are under. It
# is asked for, since the link bazel-bin shows whatever was built last, with sanitizers for example.
set_up_and_build() {
  "$root/deploy/setup.sh"
  cd "$root" || fail "$root is gone"
  bazel build //client/cli:vicinity //server:vicinityd //client/train:vicinity_train
  programs="$(bazel info bazel-bin 2> /dev/null)"
}

# start_servers DATA NUM_SHARDS FOLDER: one vicinityd a shard on the loopback device, each on a port
# that it picks itself. Returns when all answer; FOLDER gets their logs and cluster.textproto.
start_servers() {
  local data="$1" num_shards="$2" folder="$3" shard
  mkdir -p "$folder"
  rm -f "$folder"/*.ready
  for ((shard = 0; shard < num_shards; shard++)); do
    "$programs/server/vicinityd" --data "$data" --shards "$shard" --listen 127.0.0.1:0 \
      --ready-file "$folder/$shard.ready" > "$folder/$shard.log" 2>&1 &
    server_pids+=($!)
  done
  {
    printf 'data: "%s"\nnum_shards: %d\n' "$data" "$num_shards"
    for ((shard = 0; shard < num_shards; shard++)); do
      await_ready "${server_pids[shard]}" "$folder/$shard"
      printf 'servers { name: "server%d" listen: "%s" shards: %d }\n' \
        "$shard" "$(< "$folder/$shard.ready")" "$shard"
    done
  } > "$folder/cluster.textproto"
}

# await_ready PID PATH: until PATH.ready is there, 20 seconds at most.
await_ready() {
  local tries
  for ((tries = 0; tries < 200; tries++)); do
    if [[ -s "$2.ready" ]]; then return; fi
    kill -0 "$1" 2> /dev/null || fail "a server ended: $(tail -n 3 "$2.log")"
    sleep 0.1
  done
  fail "a server is not ready after 20 s: $(tail -n 3 "$2.log")"
}

# home_of TRAINER NUM_TRAINERS NUM_SHARDS: the shards near a trainer, as 0,2 (the loader's rule).
home_of() {
  if (($1 < $3)); then seq -s, "$1" "$2" "$(($3 - 1))"; else echo "$(($1 % $3))"; fi
}

# all_homes NUM_TRAINERS NUM_SHARDS: every trainer's home once, as 0,2/1,3.
all_homes() {
  local trainer homes=()
  for ((trainer = 0; trainer < $1 && trainer < $2; trainer++)); do
    homes+=("$(home_of "$trainer" "$1" "$2")")
  done
  (IFS=/ && echo "${homes[*]}")
}

# train_group NAME NUM_TRAINERS FOLDER ARGUMENTS: runs trainers 0 .. N - 1 with these arguments,
# where the word HOME stands for the trainer's own shards of the NUM_SHARDS of the caller. Trainer t
# reports to FOLDER/NAME.t.jsonl; trainer 0's command and lines are shown. Fails if one
# of them fails.
train_group() {
  local name="$1" num_trainers="$2" folder="$3" trainer command
  shift 3
  rm -f "$folder/$name".*
  trainer_pids=()
  for ((trainer = 0; trainer < num_trainers; trainer++)); do
    command=("${@/#HOME/$(home_of "$trainer" "$num_trainers" "$num_shards")}"
      --report "$folder/$name.$trainer.jsonl")
    if ((num_trainers > 1)); then
      command+=(--trainer "$trainer" --trainers "$num_trainers"
        --rendezvous "file:$folder/$name.meet")
    fi
    if ((trainer == 0)); then printf '$ vicinity_train %s\n' "${command[*]}"; fi
    "$programs/client/train/vicinity_train" "${command[@]}" &
    trainer_pids+=($!)
  done
  await_trainers || fail "training ($name) failed"
}

# await_trainers: until all have ended well. Fails as soon as one has not: the others, which wait for
# it, are left to stop_processes.
await_trainers() {
  local ended pid left
  while ((${#trainer_pids[@]} > 0)); do
    wait -n -p ended "${trainer_pids[@]}" || return 1
    left=()
    for pid in "${trainer_pids[@]}"; do
      if ((pid != ended)); then left+=("$pid"); fi
    done
    trainer_pids=("${left[@]}")
  done
}

# stop_processes: ends what is left of trainers and servers, and waits for it.
stop_processes() {
  local pids=("${trainer_pids[@]}" "${server_pids[@]}")
  trainer_pids=()
  server_pids=()
  if ((${#pids[@]} == 0)); then return; fi
  kill "${pids[@]}" 2> /dev/null || true
  wait "${pids[@]}" 2> /dev/null || true
}

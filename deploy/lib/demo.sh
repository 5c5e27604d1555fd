# shellcheck shell=bash disable=SC2154,SC2034  # `work` and others come from whoever sources it
# The main job step by step, for quickstart.sh and bench/accuracy.sh: sourced, not run.
#
# Needs local_cluster.sh, and `work`, the folder that all files go to.

# What is trained. The defaults of vicinity_train are hidden 256, batches of 1,024 seeds a trainer
# 10 epochs and dropout 0.5; here two cores do everything, servers included. A higher learning rate
# and no dropout get far in few epochs; and without dropout nothing is left to chance but what the
# seed decides, so training with and without the service gives the same model.
demo_fanouts=15,10,5
demo_hidden=128
# Seeds of a step, all trainers together. It divides WordNet's 70,680 training nodes, and 2 to 6
# divide it: no epoch ends with a step of a few seeds, which does harm, or begins again to fill one.
demo_batch=1140
demo_epochs=4
demo_lr=0.01
linear_epochs=6
linear_lr=0.05

# dataset_ready FOLDER STAMP: whether FOLDER was made from what STAMP says; else it is removed.
dataset_ready() {
  if [[ -f "$1/manifest.textproto" && -f "$1.stamp" && "$(< "$1.stamp")" == "$2" ]]; then
    return 0
  fi
  rm -rf "$1" "$1.stamp"
  return 1
}

# make_shards GRAPH NUM_SHARDS NUM_TRAINERS: $work/shards, cut and ranked for these trainers.
make_shards() {
  local stamp batch=$((demo_batch / $3))
  stamp="$(sha256sum < "$1/manifest.textproto") $2 shards $3 trainers $demo_fanouts $batch"
  if dataset_ready "$work/shards" "$stamp"; then
    echo "$work/shards is there already"
    return
  fi
  show vicinity partition --input "$1" --output "$work/shards" --shards "$2" \
    --homes "$(all_homes "$3" "$2")" --fanouts "$demo_fanouts" --batch-size "$batch"
  echo "$stamp" > "$work/shards.stamp"
}

# train_together SEED NUM_TRAINERS CLUSTER OPTIONS: the model through the service. Seeds are dealt
# from all over the graph, so the batches are those of any other number of shards; a trainer maps
# its home shards and asks servers for the rest.
train_together() {
  local seed="$1" num_trainers="$2" cluster="$3"
  shift 3
  train_group service "$num_trainers" "$work" --cluster "$cluster" --local-shards HOME \
    --fanouts "$demo_fanouts" --hidden "$demo_hidden" --dropout 0 --lr "$demo_lr" \
    --epochs "$demo_epochs" --batch-size $((demo_batch / num_trainers)) --seed "$seed" "$@"
}

# train_alone SEED NUM_TRAINERS GRAPH OPTIONS: the same model on the same batches in one process,
# without any server: the batches that the trainers would share make one step here.
train_alone() {
  local seed="$1" num_trainers="$2" graph="$3"
  shift 3
  train_group single 1 "$work" --graph "$graph" --accumulate "$num_trainers" \
    --fanouts "$demo_fanouts" --hidden "$demo_hidden" --dropout 0 --lr "$demo_lr" \
    --epochs "$demo_epochs" --batch-size $((demo_batch / num_trainers)) --seed "$seed" "$@"
}

# train_linear SEED GRAPH OPTIONS: what the features alone are worth.
train_linear() {
  local seed="$1" graph="$2"
  shift 2
  train_group linear 1 "$work" --graph "$graph" --model linear --lr "$linear_lr" \
    --epochs "$linear_epochs" --batch-size "$demo_batch" --seed "$seed" --eval-every 2 "$@"
}

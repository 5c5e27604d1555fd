#!/usr/bin/env bash
# Runs a bundle of deploy/gpu.sh on a GPU: the contract suite and the other tests, the same under
# compute-sanitizer, the benchmarks, and epochs of GraphSAGE over servers on this machine.
#
#   run [--results DIR] [--size small|full] [--only tests|sanitizer|benchmark|epoch]
#
# Figures and reports go to DIR (results, beside this file), graphs to $TMPDIR/vicinity-bench. The
# last line is `N passed, N failed`: programs, each counted once. Exits 1 if one failed, 3 if there
# is no GPU.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
PATH="$PATH:/usr/local/cuda/bin"  # where the toolkit, if there is one, has compute-sanitizer

results="$here/results"
size=full
only=all
while [[ $# -gt 0 ]]; do
  case "$1" in
    --results) results="$2"; shift 2 ;;
    --size) size="$2"; shift 2 ;;
    --only) only="$2"; shift 2 ;;
    *)
      sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" >&2
      exit 2
      ;;
  esac
done

if ! nvidia-smi -L; then
  echo "run: there is no GPU" >&2
  exit 3
fi
mkdir -p "$results"
content="$here/content"
if [[ ! "$content/unpacked" -nt "$here/content.tar.gz" ]]; then
  rm -rf "$content"
  mkdir -p "$content" && tar -C "$content" -xzf "$here/content.tar.gz" || exit 1
  touch "$content/unpacked"
fi
data="${TMPDIR:-/tmp}/vicinity-bench"
nvidia-smi > "$results/nvidia-smi.txt"
cp "$here/commit" "$results/"

their_libraries="${LD_LIBRARY_PATH:-}"  # the driver may be found by it alone
passed=0
failed=0
# step NAME COMMAND...: its output goes to NAME.txt, and is shown if it fails.
step() {
  local name="$1"
  shift
  SECONDS=0
  if LD_LIBRARY_PATH="$content/lib${their_libraries:+:$their_libraries}" VICINITY_REQUIRE_GPU=1 \
    "$@" > "$results/$name.txt" 2>&1; then
    passed=$((passed + 1))
    echo "ok     $name ($SECONDS s)"
  else
    failed=$((failed + 1))
    echo "FAILED $name ($SECONDS s); the end of $results/$name.txt:"
    tail -n 30 "$results/$name.txt"
  fi
}

run_tests() {
  local test
  for test in "$content"/bin/*_test; do
    step "$(basename "$test")" timeout 300 "$test"
  done
}

run_sanitizer() {
  if ! command -v compute-sanitizer > /dev/null; then
    echo "left out: compute-sanitizer is not installed"
    return
  fi
  local tool test
  for tool in memcheck initcheck; do  # no kernel has shared memory, which racecheck looks at
    for test in cuda_device_test copy_rows_test device_pool_test \
      device_loader_test; do
      # An event that is not there yet is no error of ours, though the call says so.
      step "$tool-$test" timeout 500 compute-sanitizer --tool "$tool" --error-exitcode 9 \
        --report-api-errors no "$content/bin/$test"
    done
  done
}

# Figures are JSON lines; what is said besides goes to standard error.
measure() {
  "$content/bin/gpu_benchmark" --format json --size "$size" --data "$data" > "$results/gpu.jsonl"
}
# Python's own libraries stay its own.
python() {
  LD_LIBRARY_PATH="$their_libraries" PYTHONPATH="$content/python" PYTHONDONTWRITEBYTECODE=1 \
    VICINITY_LIBRARY="$content/lib/libvicinity.so" python3 "$content/python/$1" "${@:2}"
}
measure_torch() { python torch_index_select.py --size "$size" > "$results/torch.jsonl"; }
measure_epoch() {
  python gpu_epoch.py --tool "$content/bin/vicinity" --daemon "$content/bin/vicinityd" \
    --libraries "$content/lib" --size "$size" --data "$data" --format json \
    > "$results/epoch.jsonl"
}

# Whether Python has PyTorch; says what is left out if not.
has_torch() {
  if python3 -c 'import torch' 2> /dev/null; then return; fi
  echo "left out $1: python3 has no torch"
  return 1
}

run_benchmark() {
  step benchmark measure
  if has_torch "torch.index_select"; then step torch measure_torch; fi
  cat "$results"/{gpu,torch}.jsonl 2> /dev/null
}

run_epoch() {
  if has_torch "GraphSAGE"; then step epoch measure_epoch; fi
  cat "$results/epoch.jsonl" 2> /dev/null
}

for stage in tests sanitizer benchmark epoch; do
  if [[ $only == all || $only == "$stage" ]]; then "run_$stage"; fi
done

echo "$passed passed, $failed failed"
[[ $failed == 0 ]]

# shellcheck shell=bash
# What benchmarks in Python share: sourced by deploy/bench/*.sh, not run.

# run_python_bench SCRIPT [--python PROGRAM] OPTIONS: builds what it needs and runs tests/benchmark/SCRIPT
# in its place, by PROGRAM (/usr/bin/python3).
run_python_bench() {
  local root script="$1" python=/usr/bin/python3 programs arguments=()
  shift
  root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
  cd "$root"
  while [[ $# -gt 0 ]]; do
    if [[ "$1" == --python ]]; then
      python="$2"
      shift
    else
      arguments+=("$1")
    fi
    shift
  done
  deploy/setup.sh >&2
  bazel build //client/cli:vicinity //server:vicinityd //client/c_api:libvicinity.so >&2
  programs="$(bazel info bazel-bin 2> /dev/null)"
  PYTHONPATH="$root/client/python:$root/deploy/lib" \
    VICINITY_LIBRARY="$programs/client/c_api/libvicinity.so" \
    exec "$python" "tests/benchmark/$script" --programs "$programs" "${arguments[@]}"
}

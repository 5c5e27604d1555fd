#!/usr/bin/env bash
# Runs a benchmark: it prints figures, beside a baseline and the machine's limit where there are.
#
#   deploy/bench.sh NAME [OPTIONS]   one benchmark; --format json for JSON lines
#   deploy/bench.sh --list           their names
#
# A benchmark is a program tests/benchmark/NAME_benchmark.cc or a script deploy/bench/NAME.sh. Each
# JSON line is {"bench", "case", "metric", "value", "baseline", "limit"}; the last two may be null.
# Nothing else prints to standard output.
#
# The benchmark `gpu` needs a GPU: it exits 3, saying why, where there is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

names() {
  local path
  for path in deploy/bench/*.sh tests/benchmark/*_benchmark.cc; do
    path="${path##*/}"
    path="${path%.sh}"
    echo "${path%_benchmark.cc}"
  done | sort -u
}

name="${1:-}"
case "$name" in
  --list)
    names
    exit 0
    ;;
  "" | -*)
    sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
    ;;
esac
shift
if [[ -f "deploy/bench/$name.sh" ]]; then
  exec "deploy/bench/$name.sh" "$@"
fi
if [[ ! -f "tests/benchmark/${name}_benchmark.cc" ]]; then
  echo "bench: no benchmark '$name'; there are: $(names | paste -sd ' ')" >&2
  exit 2
fi
deploy/setup.sh >&2
bazel build "//tests/benchmark:${name}_benchmark" >&2
bin="$(bazel info bazel-bin 2> /dev/null)"
exec "$bin/tests/benchmark/${name}_benchmark" "$@"

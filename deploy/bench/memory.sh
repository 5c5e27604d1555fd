#!/usr/bin/env bash
# Does `vicinity partition` need the memory that it says it will? For each graph and cut: the most
# that the tool and the METIS that it starts held at once, beside the graph's own mapped files, and
# (as the baseline) what it said before it began.
#
#   deploy/bench.sh memory [--size small|full] [--format table|json] [--data DIR]
#
# Some minutes; full has graphs of some ten million edges.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
deploy/setup.sh >&2
bazel build //client/cli:vicinity >&2
PYTHONPATH=deploy/lib exec tests/benchmark/memory_bench.py --tool "$(bazel info bazel-bin 2> /dev/null)/client/cli/vicinity" "$@"

#!/usr/bin/env bash
# Rows from a server on the same two cores. First the path that loaders use, four calls at a time,
# beside plain services and bare TCP; then the public Graph::Fetch, by gRPC and by the bulk channel,
# 1 to 32 calls at a time, large and small, from C++ and (one at a time) from Python, beside a plain
# service; then what a thousand connections take of a server's memory that do nothing.
#
#   deploy/bench.sh rows [--size small|full] [--format table|json] [--data DIR]
#
# Small takes three minutes, full eight.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
deploy/setup.sh >&2
bazel build //tests/benchmark:rows_benchmark //tests/benchmark:fetch_benchmark \
  //tests/benchmark/operate:idle_benchmark //client/c_api:libvicinity.so >&2
programs="$(bazel info bazel-bin 2> /dev/null)"

"$programs/tests/benchmark/rows_benchmark" "$@"
PYTHONPATH="$root/client/python" VICINITY_LIBRARY="$programs/client/c_api/libvicinity.so" \
  "$programs/tests/benchmark/fetch_benchmark" "$@"
"$programs/tests/benchmark/operate/idle_benchmark" "$@"

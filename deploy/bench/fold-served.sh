#!/usr/bin/env bash
# What many changes cost a server that is read: memory of a new edge, a start with all of them, and a
# fold (`vicinity fold --cluster`) beside online readers: its time, and what a reader waits for
# meanwhile, of what it waits for alone.
#
#   deploy/bench.sh fold-served [--size small|full] [--format table|json]
#
# A random graph of one shard with rows of 64 bytes, as many new edges written to it as it has. Small
# has 655,360 of either and takes a minute; full ten million, and takes some.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
deploy/setup.sh >&2
bazel build //client/cli:vicinity //server:vicinityd //tests/benchmark:cluster_client >&2
exec deploy/lib/fold_served_bench.py --programs "$(bazel info bazel-bin 2> /dev/null)" "$@"

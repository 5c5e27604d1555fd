#!/usr/bin/env bash
# What it costs to watch a server: time and size of the HTTP port's pages, and what calls for rows
# lose while Prometheus scrapes every second and while eight connections ask without end; and what
# small calls, rows and sampling lose by being scraped and, one of a hundred, traced.
#
#   deploy/bench.sh operate [--size small|full] [--format table|json]
#
# Small takes a minute, full three.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
deploy/setup.sh >&2
bazel build //tests/benchmark/operate:operate_benchmark >&2
exec "$(bazel info bazel-bin 2> /dev/null)/tests/benchmark/operate/operate_benchmark" "$@"

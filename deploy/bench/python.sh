#!/usr/bin/env bash
# Batches with features for a PyTorch Geometric user: vicinity_graph.pyg.NeighborLoader over servers on
# this machine (with the default cache, which holds all rows of this graph, and with one that holds a
# tenth) and over mapped files, beside PyG's own NeighborLoader in memory, with workers and without.
# The same graph, fanouts (15, 10, 5), batches of 1,024 and of 64.
#
#   deploy/bench.sh python [--size small|full] [--format table|json] [--python PROGRAM]
#
# PyG in memory needs pyg-lib or torch-sparse: a PROGRAM that has one (and PyTorch and PyG), or
# there is no baseline, which is said. Small takes four minutes, full half an hour.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
python=/usr/bin/python3
arguments=()
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
  exec "$python" tests/benchmark/python_bench.py --programs "$programs" "${arguments[@]}"

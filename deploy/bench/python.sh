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

. "$(dirname "${BASH_SOURCE[0]}")/../lib/python_bench.sh"
run_python_bench python_bench.py "$@"

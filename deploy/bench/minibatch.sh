#!/usr/bin/env bash
# Batches of 1,024 seeds, fanouts (15, 10, 5), 512 bytes a row, all of whose neighbours and rows come
# from two servers on the same two cores: vicinity_graph.pyg without a cache, by gRPC and by the bulk
# channel (over a Unix socket, which a trainer on the servers' host takes). Seeds a second and
# CPU seconds per 1,000 seeds, trainer and servers together, beside PyG's own loader in memory, with
# workers and without.
#
#   deploy/bench.sh minibatch [--size small|full] [--turns N] [--seconds N] [--format table|json]
#                             [--python PROGRAM]
#
# PyG in memory needs pyg-lib or torch-sparse: a PROGRAM that has one (and PyTorch and PyG), or
# there is no baseline, which is said. Small takes three minutes, full ten.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../lib/python_bench.sh"
run_python_bench minibatch_bench.py "$@"

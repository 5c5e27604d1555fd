#!/usr/bin/env bash
# Epochs of batches with features (512 bytes a row) over servers on this machine, for a trainer that
# does nothing with them: vicinity_graph.pyg's NeighborLoader over vicinityd, with its default
# options and without a cache, and graphlearn-torch's loader over its own servers, each with as many
# sampling workers as there are cores. The same graph, fanouts (15, 10, 5), batches of 1,024 and of
# 64; seeds a second, CPU seconds per 1,000 seeds, and what servers, workers and trainer have in
# memory together.
#
#   deploy/bench.sh pyg-servers [--size small|full] [--servers N] [--format table|json]
#                               [--python PROGRAM]
#
# N is 2. graphlearn-torch needs a PROGRAM of an environment that has it, or there is no baseline,
# which is said; 0.2.4 was built for PyTorch 2.4.1 (gigabytes):
#   pip install graphlearn-torch==0.2.4 torch==2.4.1 'numpy<2' torch_geometric
# Small takes four minutes, full some.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../lib/python_bench.sh"
run_python_bench pyg_servers_bench.py "$@"

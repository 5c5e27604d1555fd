#!/usr/bin/env bash
# Does PyTorch Geometric's model learn the same through our loader as from a graph in memory? SAGEConv
# over vicinity_graph.pyg.NeighborLoader and two servers, beside the same with PyG's loader in memory,
# seed by seed: test accuracy at the best validation accuracy, mean, deviation, and whether they agree.
#
#   deploy/bench.sh pyg-accuracy [--graph cora|wordnet] [--seeds N] [--format table|json]
#                                [--python PROGRAM]
#
# A seed decides the weights at the start, the order of the seeds and every draw, which are others in
# memory. PyG's NeighborLoader needs pyg-lib or torch-sparse: with a PROGRAM that has neither, PyG's
# NodeLoader goes over a sampler in NumPy. cora takes two minutes; wordnet, whose relations have a SAGEConv
# each, a minute and a half a seed.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../lib/python_bench.sh"
run_python_bench pyg_accuracy_bench.py "$@"

#!/usr/bin/env bash
# Random walks of ten steps, in steps a second: uniform, by weight, node2vec (p 1/4, q 4), along a
# metapath of two relations; mapped, on one core, beside DGL's on the same graph and one core; then
# served by four servers on this machine, on all cores, of a METIS and of a hash cut. With the calls
# that a served one took.
#
#   deploy/bench.sh walks [--size small|full] [--format table|json] [--python PROGRAM]
#
# DGL needs a PROGRAM that has it (and PyTorch and NumPy), or there is no baseline, which is said:
# deploy/test_python.sh makes one (docs/python.md, versions). Small takes a minute, full some.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/python_bench.sh"
run_python_bench walks_bench.py "$@"

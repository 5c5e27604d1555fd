#!/usr/bin/env bash
# Bags of words as a ragged column beside the same words as dense rows of float32: bytes on disk, and
# epochs of batches over two servers on this machine, with the bytes that they fetch; of the cache,
# none, and what is kept by default.
#
#   deploy/bench.sh ragged [--size small|full] [--format table|json] [--python PROGRAM]
#
# It needs SciPy. Small takes some minutes, nearly all for the dense rows.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/python_bench.sh"
run_python_bench ragged_bench.py "$@"

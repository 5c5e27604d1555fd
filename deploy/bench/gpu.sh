#!/usr/bin/env bash
# What a GPU does with rows: gather and scatter against the machine's limits; and how much of an
# epoch of GraphSAGE it waits for data, with and without the pool in its memory and the pipeline.
#
#   deploy/bench.sh gpu [--size small|full] [--format table|json] [--data DIR]
#
# Built with CUDA. Exits 3, saying why, where there is no GPU; without PyTorch the epochs are left
# out. `deploy/gpu.sh` takes it to a machine that has a GPU and nothing else.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
deploy/setup.sh >&2
bazel build --config=cuda //tests/benchmark:gpu_benchmark //client/c_api:libvicinity.so \
  //client/cli:vicinity //server:vicinityd >&2
programs="$(bazel info --config=cuda bazel-bin 2> /dev/null)"

"$programs/tests/benchmark/gpu_benchmark" "$@"
if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> /dev/null; then
  PYTHONPATH="client/python:client/python/examples" \
    VICINITY_LIBRARY="$programs/client/c_api/libvicinity.so" \
    deploy/lib/gpu_epoch.py --tool "$programs/client/cli/vicinity" \
    --daemon "$programs/server/vicinityd" "$@"
else
  echo "gpu: left out the epochs of GraphSAGE: python3 has no torch that finds the GPU" >&2
fi

#!/usr/bin/env bash
# Ways of sampling. First ours beside each other (tests/benchmark/samplers_benchmark.cc): negatives,
# links left out, LABOR, times, conditions; mapped and behind a server. Then ours beside DGL's on one
# core, in memory and mapped: walks, as `deploy/bench.sh walks` has them, and batches of two hops,
# uniform, by weight, by a condition, by LABOR, until a time, and along the 30 relations of WordNet.
#
#   deploy/bench.sh samplers [--size small|full] [--format table|json] [--python PROGRAM]
#
# DGL needs a PROGRAM of an environment that has it, or there is no baseline of the second part, which
# is said. DGL 2.1.0, the last on PyPI, was built for PyTorch 2.2.1 (gigabytes):
#   pip install dgl==2.1.0 torch==2.2.1 'numpy<2' torchdata==0.7.1 pandas pydantic pyyaml
# Small takes four minutes, full some more.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
. "$root/deploy/lib/python_bench.sh"

native=()
for ((i = 1; i <= $#; i++)); do
  if [[ "${!i}" == --python ]]; then
    i=$((i + 1))
  else
    native+=("${!i}")
  fi
done
cd "$root"
deploy/setup.sh >&2
bazel build //tests/benchmark:samplers_benchmark >&2
"$(bazel info bazel-bin 2> /dev/null)/tests/benchmark/samplers_benchmark" "${native[@]}"
run_python_bench samplers_bench.py "$@"

#!/usr/bin/env bash
# Formats all C++ and CUDA sources with .clang-format, those that git does not know yet too.
#
#   deploy/format.sh            rewrites files
#   deploy/format.sh --check    rewrites nothing; exit status 1 and the places, if any would change
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

arguments=(-i)
if [[ "${1:-}" == --check ]]; then arguments=(--dry-run -Werror); fi
git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cc' '*.cu' '*.cuh' \
  | xargs --null --no-run-if-empty clang-format "${arguments[@]}"

#!/usr/bin/env bash
# Lints C++ sources with .clang-tidy; needs generated headers, so build first.
#
#   deploy/tidy.sh partition/dataset/book.cc ...    these files
#   deploy/tidy.sh                          those that differ from the main branch
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

files=("$@")
if [[ ${#files[@]} -eq 0 ]]; then
  mapfile -t files < <(git diff --name-only --diff-filter=d main -- '*.cc')
fi
if [[ ${#files[@]} -eq 0 ]]; then
  echo "tidy: nothing to lint"
  exit 0
fi
# Like the build's own flags, as far as a linter minds; a .cc at a time on each processor.
printf '%s\0' "${files[@]}" | xargs --null --max-procs="$(nproc)" -I '{}' \
  clang-tidy --quiet '{}' -- -std=c++17 -iquote . -iquote bazel-bin \
  -isystem /usr/include/torch/csrc/api/include -DUSE_DISTRIBUTED -DUSE_C10D_GLOO \
  -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL -DSPDLOG_SHARED_LIB

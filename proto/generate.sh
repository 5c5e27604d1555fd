#!/usr/bin/env bash
# The C++ of one .proto: proto/generate.sh OUTPUT-FOLDER proto/FILE.proto [grpc]
#
# A process has one registry of messages, keyed by file name, and stops at once if two libraries in it
# bring the same one. So our files are registered as vicinity/proto/..., a name that no program
# which uses the client has by accident; our own includes stay proto/...
set -euo pipefail

output="$1"
folder="$(dirname "$2")"
name="$(basename "$2" .proto)"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
plugin=()
if [[ "${3:-}" == grpc ]]; then
  plugin=("--plugin=protoc-gen-grpc=$(command -v grpc_cpp_plugin)" "--grpc_out=$scratch")
fi
protoc "-Ivicinity/proto=$folder" "--cpp_out=$scratch" "${plugin[@]}" "vicinity/proto/$name.proto"
for file in "$scratch/vicinity/proto/$name".*; do
  sed 's,#include "vicinity/proto/,#include "proto/,' "$file" > "$output/$(basename "$file")"
done

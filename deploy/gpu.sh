#!/usr/bin/env bash
# The tests and benchmarks that need a GPU: built here, run on a machine that has one.
#
#   deploy/gpu.sh bundle [DIR]       builds them with CUDA and packs them, with the libraries that a
#                                    bare machine lacks, into DIR (.cache/gpu); needs no GPU
#   deploy/gpu.sh run [OPTIONS]      runs the bundle in .cache/gpu; deploy/lib/gpu_run.sh has the
#                                    options. Here, or where .cache/gpu was carried to
#
# A GPU machine needs the NVIDIA driver, and a glibc and libstdc++ that are not older than Debian
# 12's; neither Bazel, nor packages of Debian's, nor a network, nor the CUDA toolkit. With PyTorch
# it compares with torch.index_select and trains GraphSAGE over servers of its own, with
# compute-sanitizer it checks memory accesses and races.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tests=(
  base/cuda_device_test base/device_test base/staging_ring_test copy_rows_test
  device_pool_test dlpack_test home_rows_test batch_tensor_ring_test
  row_mover_test
)

# Everything a binary links to, but what belongs to the C and C++ runtime of the machine it runs on.
libraries_of() {
  ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u \
    | grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|libstdc\+\+)\.so'
}

bundle() {
  local dir="${1:-.cache/gpu}"
  local programs=(
    tests/benchmark/gpu_benchmark client/cli/vicinity server/vicinityd
    "${tests[@]/#/tests/cache/device/}" tests/client/device_loader_test
  )
  local library=client/c_api/libvicinity.so
  local targets=() path
  for path in "${programs[@]}" "$library"; do targets+=("//${path%/*}:${path##*/}"); done
  bazel build --config=cuda "${targets[@]}" >&2
  local built content
  built="$(bazel info --config=cuda bazel-bin 2> /dev/null)"
  rm -rf "$dir"
  content="$dir/content"
  mkdir -p "$content/bin" "$content/lib" "$content/python"
  cp "${programs[@]/#/$built/}" "$content/bin/"
  cp "$built/$library" "$content/lib/"
  chmod -R u+w "$content"
  strip --strip-debug "$content"/bin/* "$content"/lib/*
  libraries_of "$content"/bin/* "$content"/lib/* | xargs -I{} cp -L {} "$content/lib/"
  cp -R client/python/vicinity_graph client/python/examples/graphsage.py "$content/python/"
  cp deploy/lib/{gpu_epoch,served_shards,tables,torch_index_select}.py "$content/python/"
  find "$content" -name __pycache__ -prune -exec rm -r {} +
  tar -C "$content" -czf "$dir/content.tar.gz" .
  rm -r "$content"
  cp deploy/lib/gpu_run.sh "$dir/run"
  git rev-parse HEAD > "$dir/commit"
  echo "gpu: $(du -sh "$dir" | cut -f1) in $dir; on a GPU machine: $dir/run" >&2
}

case "${1:-}" in
  bundle)
    bundle "${@:2}"
    ;;
  run)
    if [[ ! -x .cache/gpu/run ]]; then
      echo "gpu: there is no .cache/gpu: make it with '$0 bundle', or bring it" >&2
      exit 2
    fi
    exec .cache/gpu/run "${@:2}"
    ;;
  *)
    sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
    ;;
esac

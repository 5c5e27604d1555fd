// How the kernels number their threads.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace vicinity {

inline constexpr int kBlockThreads = 256;

// Of at least one thread; a grid holds 2^31 - 1 blocks, 5 * 10^11 threads.
inline unsigned NumBlocks(int64_t num_threads) {
  return static_cast<unsigned>((num_threads + kBlockThreads - 1) / kBlockThreads);
}

__device__ inline int64_t ThisThread() { return int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; }

}  // namespace vicinity

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tests/benchmark/baselines/plain_gather.h"

namespace vicinity::benchmark {
namespace {

constexpr int kBlockThreads = 256;

// Words are counted in 32 bits, for quick division; a place among all rows takes 64.
__global__ void PlainGatherKernel(const uint32_t* from, const int32_t* rows, uint32_t* to,
                                  uint32_t num_words, uint32_t row_words) {
  const uint32_t t = blockIdx.x * kBlockThreads + threadIdx.x;
  if (t >= num_words) return;
  const uint32_t row = t / row_words;
  to[t] = from[int64_t{rows[row]} * row_words + (t - row * row_words)];
}

}  // namespace

bool PlainGather(void* stream, const char* from, const int32_t* rows, char* to, int64_t num_rows,
                 int64_t row_bytes) {
  const auto row_words = static_cast<uint32_t>(row_bytes / 4);
  const auto num_words = static_cast<uint32_t>(num_rows * row_words);
  const uint32_t num_blocks = (num_words + kBlockThreads - 1) / kBlockThreads;
  PlainGatherKernel<<<num_blocks, kBlockThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      reinterpret_cast<const uint32_t*>(from), rows, reinterpret_cast<uint32_t*>(to), num_words,
      row_words);
  return cudaGetLastError() == cudaSuccess;
}

}  // namespace vicinity::benchmark

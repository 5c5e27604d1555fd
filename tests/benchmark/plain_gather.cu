#include <cuda_runtime_api.h>

#include <cstdint>

#include "tests/benchmark/plain_gather.h"

namespace vicinity::benchmark {
namespace {

constexpr int kBlockThreads = 256;

__global__ void PlainGatherKernel(const uint32_t* from, const int32_t* rows, uint32_t* to,
                                  int64_t num_words, int64_t row_words) {
  const int64_t t = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (t < num_words) to[t] = from[rows[t / row_words] * row_words + t % row_words];
}

}  // namespace

bool PlainGather(void* stream, const char* from, const int32_t* rows, char* to, int64_t num_rows,
                 int64_t row_bytes) {
  const int64_t row_words = row_bytes / 4;
  const int64_t num_words = num_rows * row_words;
  const auto num_blocks = static_cast<unsigned>((num_words + kBlockThreads - 1) / kBlockThreads);
  PlainGatherKernel<<<num_blocks, kBlockThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      reinterpret_cast<const uint32_t*>(from), rows, reinterpret_cast<uint32_t*>(to), num_words,
      row_words);
  return cudaGetLastError() == cudaSuccess;
}

}  // namespace vicinity::benchmark

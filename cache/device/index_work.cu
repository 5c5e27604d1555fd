#include <cuda_runtime_api.h>

#include <cstdint>

#include "cache/device/base/cuda_threads.cuh"
#include "cache/device/index_work.h"

namespace vicinity {
namespace {

__global__ void WriteCellsKernel(const WriteCells work) {
  const int64_t t = ThisThread();
  if (t < work.num_cells) WriteCellsThread(work, t);
}

__global__ void LookUpIdsKernel(const LookUpIds work, int64_t num_threads) {
  const int64_t t = ThisThread();
  if (t < num_threads) LookUpIdsThread(work, t);
}

__global__ void PublishCountsKernel(const PublishCounts work) {
  const int64_t t = ThisThread();
  if (t < work.num_counts) PublishCountsThread(work, t);
}

}  // namespace

int LaunchOnCuda(void* stream, const WriteCells& work) {
  WriteCellsKernel<<<NumBlocks(work.num_cells), kBlockThreads, 0,
                     static_cast<cudaStream_t>(stream)>>>(work);
  return cudaGetLastError();
}

int LaunchOnCuda(void* stream, const LookUpIds& work) {
  const int64_t num_threads = ThreadsOf(work);
  LookUpIdsKernel<<<NumBlocks(num_threads), kBlockThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      work, num_threads);
  return cudaGetLastError();
}

int LaunchOnCuda(void* stream, const PublishCounts& work) {
  PublishCountsKernel<<<NumBlocks(work.num_counts), kBlockThreads, 0,
                        static_cast<cudaStream_t>(stream)>>>(work);
  return cudaGetLastError();
}

}  // namespace vicinity

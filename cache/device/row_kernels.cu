#include <cstdint>

#include "cache/device/cuda_launch.h"
#include "cache/device/cuda_threads.cuh"

namespace vicinity {
namespace {

template <int kWordBytes>
__global__ void __launch_bounds__(kBlockThreads)
    CopyRowsKernel(const __grid_constant__ CopyRows work, const CopyRowsShape shape) {
  const int64_t t = ThisThread();
  if (t < shape.num_threads()) CopyRowsThread<kWordBytes>(work, shape, t);
}

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

template <int kWordBytes>
cudaError_t LaunchCopyRows(cudaStream_t stream, const CopyRows& work, const CopyRowsShape& shape) {
  CopyRowsKernel<kWordBytes>
      <<<NumBlocks(shape.num_threads()), kBlockThreads, 0, stream>>>(work, shape);
  return cudaGetLastError();
}

}  // namespace

cudaError_t LaunchOn(cudaStream_t stream, const CopyRows& work) {
  if (work.num_rows == 0) return cudaSuccess;
  const CopyRowsShape shape = ShapeOf(work);
  switch (shape.word_bytes) {
    case 16:
      return LaunchCopyRows<16>(stream, work, shape);
    case 8:
      return LaunchCopyRows<8>(stream, work, shape);
    case 4:
      return LaunchCopyRows<4>(stream, work, shape);
    case 2:
      return LaunchCopyRows<2>(stream, work, shape);
    default:
      return LaunchCopyRows<1>(stream, work, shape);
  }
}

cudaError_t LaunchOn(cudaStream_t stream, const WriteCells& work) {
  if (work.num_cells == 0) return cudaSuccess;
  WriteCellsKernel<<<NumBlocks(work.num_cells), kBlockThreads, 0, stream>>>(work);
  return cudaGetLastError();
}

cudaError_t LaunchOn(cudaStream_t stream, const LookUpIds& work) {
  if (work.num_ids == 0) return cudaSuccess;
  const int64_t num_threads = ThreadsOf(work);
  LookUpIdsKernel<<<NumBlocks(num_threads), kBlockThreads, 0, stream>>>(work, num_threads);
  return cudaGetLastError();
}

cudaError_t LaunchOn(cudaStream_t stream, const PublishCounts& work) {
  if (work.num_counts == 0) return cudaSuccess;
  PublishCountsKernel<<<NumBlocks(work.num_counts), kBlockThreads, 0, stream>>>(work);
  return cudaGetLastError();
}

}  // namespace vicinity

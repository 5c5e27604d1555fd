#include <cuda_runtime_api.h>

#include <cstdint>

#include "cache/device/base/cuda_threads.cuh"
#include "cache/device/copy_rows.h"

namespace vicinity {
namespace {

template <int kWordBytes>
__global__ void __launch_bounds__(kBlockThreads)
    CopyRowsKernel(const __grid_constant__ CopyRows work, const CopyRowsShape shape) {
  const int64_t t = ThisThread();
  if (t < shape.num_threads()) CopyRowsThread<kWordBytes>(work, shape, t);
}

template <int kWordBytes>
cudaError_t LaunchCopyRows(cudaStream_t stream, const CopyRows& work, const CopyRowsShape& shape) {
  CopyRowsKernel<kWordBytes>
      <<<NumBlocks(shape.num_threads()), kBlockThreads, 0, stream>>>(work, shape);
  return cudaGetLastError();
}

}  // namespace

int LaunchOnCuda(void* stream, const CopyRows& work) {
  const CopyRowsShape shape = ShapeOf(work);
  auto* const on = static_cast<cudaStream_t>(stream);
  switch (shape.word_bytes) {
    case 16:
      return LaunchCopyRows<16>(on, work, shape);
    case 8:
      return LaunchCopyRows<8>(on, work, shape);
    case 4:
      return LaunchCopyRows<4>(on, work, shape);
    case 2:
      return LaunchCopyRows<2>(on, work, shape);
    default:
      return LaunchCopyRows<1>(on, work, shape);
  }
}

}  // namespace vicinity

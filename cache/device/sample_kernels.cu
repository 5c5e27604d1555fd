#include <cstddef>
#include <cstdint>
#include <cub/device/device_scan.cuh>

#include "cache/device/cuda_launch.h"
#include "cache/device/cuda_threads.cuh"

namespace vicinity {
namespace {

template <SamplePass kPass>
__global__ void __launch_bounds__(kBlockThreads)
    SampleKernel(const __grid_constant__ SampleStep step, int64_t num_threads) {
  const int64_t t = ThisThread();
  if (t < num_threads) SampleThread<kPass>(step, t);
}

template <SamplePass kPass>
cudaError_t LaunchPass(cudaStream_t stream, const SampleStep& step) {
  const int64_t num_threads = ThreadsOf(step);
  if (num_threads == 0) return cudaSuccess;
  SampleKernel<kPass><<<NumBlocks(num_threads), kBlockThreads, 0, stream>>>(step, num_threads);
  return cudaGetLastError();
}

}  // namespace

cudaError_t LaunchOn(cudaStream_t stream, const PrefixSum& work) {
  if (work.size == 0) return cudaSuccess;
  std::size_t bytes = 0;
  const cudaError_t asked =
      cub::DeviceScan::ExclusiveSum(nullptr, bytes, work.in, work.out, work.size, stream);
  if (asked != cudaSuccess) return asked;
  if (bytes > static_cast<std::size_t>(PrefixSumScratchBytes(work.size))) {
    return cudaErrorInvalidValue;
  }
  return cub::DeviceScan::ExclusiveSum(work.scratch, bytes, work.in, work.out, work.size, stream);
}

cudaError_t LaunchOn(cudaStream_t stream, const SampleStep& step) {
  switch (step.pass) {
    case SamplePass::kCount:
      return LaunchPass<SamplePass::kCount>(stream, step);
    case SamplePass::kChoose:
      return LaunchPass<SamplePass::kChoose>(stream, step);
    case SamplePass::kGather:
      return LaunchPass<SamplePass::kGather>(stream, step);
    case SamplePass::kInsert:
      return LaunchPass<SamplePass::kInsert>(stream, step);
    case SamplePass::kMarkFirst:
      return LaunchPass<SamplePass::kMarkFirst>(stream, step);
    case SamplePass::kNumber:
      return LaunchPass<SamplePass::kNumber>(stream, step);
    case SamplePass::kResolve:
      return LaunchPass<SamplePass::kResolve>(stream, step);
    case SamplePass::kFinishHop:
      return LaunchPass<SamplePass::kFinishHop>(stream, step);
  }
  return cudaErrorInvalidValue;
}

}  // namespace vicinity

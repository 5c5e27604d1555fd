// CUDA's errors as statuses.
#pragma once

#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace vicinity {

// "cudaMalloc: out of memory (2)". ResourceExhausted for memory, FailedPrecondition where there is
// no GPU, or no driver that runs this program, InvalidArgument for wrong values; anything else is
// Internal, and the process can rarely go on using the device.
inline absl::Status CudaStatus(absl::string_view call, cudaError_t error) {
  if (error == cudaSuccess) return absl::OkStatus();
  absl::StatusCode code = absl::StatusCode::kInternal;
  if (error == cudaErrorMemoryAllocation) code = absl::StatusCode::kResourceExhausted;
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
      error == cudaErrorSystemNotReady || error == cudaErrorSystemDriverMismatch ||
      error == cudaErrorCompatNotSupportedOnDevice || error == cudaErrorUnsupportedPtxVersion ||
      error == cudaErrorNoKernelImageForDevice) {
    code = absl::StatusCode::kFailedPrecondition;
  }
  if (error == cudaErrorInvalidValue || error == cudaErrorInvalidDevice) {
    code = absl::StatusCode::kInvalidArgument;
  }
  return absl::Status(code, absl::StrCat(call, ": ", cudaGetErrorString(error), " (",
                                         static_cast<int>(error), ")"));
}

}  // namespace vicinity

// Leaves the function with the error of a CUDA call, which the status names.
#define VICINITY_CUDA_RETURN_IF_ERROR(call, ...)                          \
  do {                                                                    \
    if (const cudaError_t vicinity_cuda_error_ = call(__VA_ARGS__);       \
        vicinity_cuda_error_ != cudaSuccess) {                            \
      cudaGetLastError(); /* or the next launch would be blamed for it */ \
      return ::vicinity::CudaStatus(#call, vicinity_cuda_error_);         \
    }                                                                     \
  } while (false)

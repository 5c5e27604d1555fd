#include "cache/device/base/cuda_context.h"

#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cache/device/base/cuda_status.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr unsigned kDriverVersion = 12000;  // whose form of the functions is meant

// A function of the driver that the runtime has loaded.
template <typename Function>
absl::Status FindInDriver(const char* name, Function* function) {
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  VICINITY_CUDA_RETURN_IF_ERROR(cudaGetDriverEntryPointByVersion, name,
                                reinterpret_cast<void**>(function), kDriverVersion,
                                cudaEnableDefault, &found);
  if (found == cudaDriverEntryPointSuccess) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the CUDA driver has no ", name));
}

absl::Status DriverStatus(const char* call, CUresult result) {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    return absl::ResourceExhaustedError(absl::StrCat(call, ": out of device memory"));
  }
  return absl::InternalError(absl::StrCat(call, ": error ", static_cast<int>(result)));
}

}  // namespace

absl::StatusOr<CudaContext> CudaContext::Of(int32_t ordinal) {
  CudaContext context;
  CUresult (*get_device)(CUdevice*, int) = nullptr;
  CUresult (*retain)(CUcontext*, CUdevice) = nullptr;
  VICINITY_RETURN_IF_ERROR(FindInDriver("cuDeviceGet", &get_device));
  VICINITY_RETURN_IF_ERROR(FindInDriver("cuDevicePrimaryCtxRetain", &retain));
  VICINITY_RETURN_IF_ERROR(FindInDriver("cuCtxPushCurrent", &context.push_));
  VICINITY_RETURN_IF_ERROR(FindInDriver("cuCtxPopCurrent", &context.pop_));
  CUdevice device = 0;
  VICINITY_RETURN_IF_ERROR(DriverStatus("cuDeviceGet", get_device(&device, ordinal)));
  // Never given back: PyTorch, too, has it until the process ends.
  VICINITY_RETURN_IF_ERROR(
      DriverStatus("cuDevicePrimaryCtxRetain", retain(&context.context_, device)));
  return context;
}

CudaContext::Scope::Scope(const CudaContext& context)
    : pop_(context.push_(context.context_) == CUDA_SUCCESS ? context.pop_ : nullptr) {}

CudaContext::Scope::~Scope() {
  if (pop_ == nullptr) return;
  CUcontext gone = nullptr;
  pop_(&gone);
}

}  // namespace vicinity

#include "cache/device/base/cuda_device.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cache/device/base/cuda_context.h"
#include "cache/device/base/cuda_status.h"
#include "cache/device/base/device.h"
#include "cache/device/base/kernel.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

class CudaEvent : public DeviceEvent {
 public:
  CudaEvent(const CudaContext& context, cudaEvent_t event) : context_(context), event_(event) {}
  ~CudaEvent() override {
    const CudaContext::Scope here(context_);
    cudaEventDestroy(event_);
  }

  absl::StatusOr<bool> Reached() override {
    const CudaContext::Scope here(context_);
    const cudaError_t error = cudaEventQuery(event_);
    if (error == cudaSuccess) return true;
    cudaGetLastError();
    if (error == cudaErrorNotReady) return false;
    return CudaStatus("cudaEventQuery", error);
  }
  absl::StatusOr<double> SecondsSince(const DeviceEvent& start) const override {
    const CudaContext::Scope here(context_);
    float milliseconds = 0;
    VICINITY_CUDA_RETURN_IF_ERROR(cudaEventElapsedTime, &milliseconds,
                                  static_cast<const CudaEvent&>(start).event_, event_);
    return milliseconds / 1000.0;
  }

  cudaEvent_t event() const { return event_; }

 private:
  const CudaContext context_;
  const cudaEvent_t event_;
};

class CudaStream : public DeviceStream {
 public:
  CudaStream(const CudaContext& context, cudaStream_t stream, bool owned)
      : context_(context), stream_(stream), owned_(owned) {}
  ~CudaStream() override {
    if (!owned_) return;
    const CudaContext::Scope here(context_);
    cudaStreamDestroy(stream_);
  }

  absl::Status Copy(void* to, const void* from, int64_t bytes) override {
    if (bytes == 0) return absl::OkStatus();
    const CudaContext::Scope here(context_);
    VICINITY_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDefault, stream_);
    return absl::OkStatus();
  }
  absl::Status Fill(void* to, uint8_t value, int64_t bytes) override {
    if (bytes == 0) return absl::OkStatus();
    const CudaContext::Scope here(context_);
    VICINITY_CUDA_RETURN_IF_ERROR(cudaMemsetAsync, to, value, bytes, stream_);
    return absl::OkStatus();
  }
  absl::Status Record(DeviceEvent* event) override {
    const CudaContext::Scope here(context_);
    VICINITY_CUDA_RETURN_IF_ERROR(cudaEventRecord, static_cast<CudaEvent*>(event)->event(),
                                  stream_);
    return absl::OkStatus();
  }
  absl::Status WaitFor(const DeviceEvent& event) override {
    const CudaContext::Scope here(context_);
    VICINITY_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent, stream_,
                                  static_cast<const CudaEvent&>(event).event(), 0);
    return absl::OkStatus();
  }

  absl::Status Launch(const Kernel& kernel) override {
    if (kernel.num_threads <= 0) return absl::OkStatus();
    const CudaContext::Scope here(context_);
    const auto error = static_cast<cudaError_t>(kernel.launch_on_cuda(stream_));
    if (error != cudaSuccess) cudaGetLastError();  // or the next launch would be blamed for it
    return At(absl::StrCat("kernel \"", kernel.name, "\""), CudaStatus("cudaLaunchKernel", error));
  }

  void* native() const override { return stream_; }

 private:
  const CudaContext context_;
  const cudaStream_t stream_;
  const bool owned_;
};

class CudaDevice : public Device {
 public:
  CudaDevice(const CudaContext& context, int32_t ordinal, std::string name)
      : context_(context), ordinal_(ordinal), name_(std::move(name)) {}

  std::string name() const override { return name_; }
  bool is_cuda() const override { return true; }
  int32_t ordinal() const override { return ordinal_; }

  absl::StatusOr<DeviceMemory> Allocate(MemoryKind kind, int64_t bytes) override {
    if (bytes <= 0) return DeviceMemory();
    const CudaContext::Scope here(context_);
    void* data = nullptr;
    if (kind == MemoryKind::kDevice) {
      VICINITY_CUDA_RETURN_IF_ERROR(cudaMalloc, &data, static_cast<size_t>(bytes));
    } else {
      VICINITY_CUDA_RETURN_IF_ERROR(cudaHostAlloc, &data, static_cast<size_t>(bytes),
                                    cudaHostAllocPortable | cudaHostAllocMapped);
    }
    return DeviceMemory(this, kind, data, bytes);
  }

  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream() override {
    const CudaContext::Scope here(context_);
    cudaStream_t stream = nullptr;
    // Apart from the default stream, or every kernel of the trainer's would wait for ours.
    VICINITY_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
    return std::make_unique<CudaStream>(context_, stream, /*owned=*/true);
  }

  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override {
    const CudaContext::Scope here(context_);
    cudaEvent_t event = nullptr;
    VICINITY_CUDA_RETURN_IF_ERROR(cudaEventCreate, &event);
    return std::make_unique<CudaEvent>(context_, event);
  }

  absl::StatusOr<std::unique_ptr<DeviceStream>> WrapStream(void* native) override {
    return std::make_unique<CudaStream>(context_, static_cast<cudaStream_t>(native),
                                        /*owned=*/false);
  }

 private:
  void Free(MemoryKind kind, void* data) override {
    // A failure is one of earlier work, which somebody else was told or will be.
    const CudaContext::Scope here(context_);
    kind == MemoryKind::kDevice ? cudaFree(data) : cudaFreeHost(data);
    cudaGetLastError();
  }

  const CudaContext context_;
  const int32_t ordinal_;
  const std::string name_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(int32_t ordinal) {
  int num_devices = 0;
  VICINITY_CUDA_RETURN_IF_ERROR(cudaGetDeviceCount, &num_devices);
  if (num_devices == 0) return absl::FailedPreconditionError("there is no CUDA device");
  if (ordinal < 0 || ordinal >= num_devices) {
    return absl::InvalidArgumentError(
        absl::StrCat("CUDA device ", ordinal, "; there are ", num_devices));
  }
  cudaDeviceProp properties;
  VICINITY_CUDA_RETURN_IF_ERROR(cudaGetDeviceProperties, &properties, ordinal);
  VICINITY_ASSIGN_OR_RETURN(const CudaContext context, CudaContext::Of(ordinal));
  return std::make_unique<CudaDevice>(context, ordinal, properties.name);
}

}  // namespace vicinity

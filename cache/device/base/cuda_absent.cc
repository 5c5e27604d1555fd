#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/base/cuda_device.h"

namespace vicinity {

absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(int32_t ordinal) {
  static_cast<void>(ordinal);
  return absl::UnimplementedError("this build has no CUDA: build with --config=cuda");
}

}  // namespace vicinity

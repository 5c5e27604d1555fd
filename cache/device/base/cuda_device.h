// CUDA devices. Builds without --config=cuda have this too, and no device.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "cache/device/base/device.h"

namespace vicinity {

// The `ordinal`-th GPU; calls on it may come from any thread. Unimplemented: this build has no
// CUDA. FailedPrecondition: there is no GPU, or no driver that can use it. InvalidArgument: there
// are fewer GPUs.
absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(int32_t ordinal);

}  // namespace vicinity

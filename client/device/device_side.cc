#include "client/device/device_side.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cache/device/base/cuda_device.h"
#include "cache/device/base/host_device.h"
#include "cache/device/base/staging_ring.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int32_t kNumChunks = 8;
constexpr int64_t kFewestRows = 16;
constexpr int64_t kListBytes = 1024;  // of the places of that many rows, and to spare
// A device that is not there after so long never will be.
constexpr std::chrono::nanoseconds kLongestWork = std::chrono::seconds(60);

}  // namespace

absl::StatusOr<std::shared_ptr<Device>> OpenLoaderDevice(const DeviceOptions& options) {
  if (options.kind == DeviceKind::kHost) {
    if (options.ordinal == 0) return std::make_shared<HostDevice>();
    return absl::InvalidArgumentError(
        absl::StrCat("device.ordinal ", options.ordinal, ": there is one host, 0"));
  }
  absl::StatusOr<std::unique_ptr<Device>> device = OpenCudaDevice(options.ordinal);
  if (device.ok()) return std::shared_ptr<Device>(*std::move(device));
  if (absl::IsInvalidArgument(device.status())) return device.status();
  return absl::FailedPreconditionError(absl::StrCat(
      "Placement::kDevice wants GPU ", options.ordinal, ": ", device.status().message(),
      ". Without a GPU use Placement::kHost, or DeviceKind::kHost for tests"));
}

absl::StatusOr<std::shared_ptr<DeviceSide>> DeviceSide::Create(std::shared_ptr<Device> device,
                                                               int64_t staging_bytes,
                                                               int64_t widest_row_bytes,
                                                               std::chrono::nanoseconds timeout) {
  std::shared_ptr<DeviceSide> side(new DeviceSide(std::move(device)));
  StagingRing::Options ring;
  ring.num_chunks = kNumChunks;
  ring.chunk_bytes =
      std::max(staging_bytes / kNumChunks, kFewestRows * widest_row_bytes + kListBytes);
  ring.timeout = timeout;
  side->staging_bytes_ = ring.num_chunks * ring.chunk_bytes;
  absl::StatusOr<std::unique_ptr<RowMover>> mover = RowMover::Create(side->device_.get(), ring);
  if (!mover.ok()) {
    return At(absl::StrCat("device.staging_bytes, for ", ring.num_chunks, " chunks of ",
                           ring.chunk_bytes, " bytes"),
              mover.status());
  }
  side->mover_ = *std::move(mover);
  return side;
}

absl::Status DeviceSide::Finish() const {
  return FinishOnHost(device_.get(), mover_->stream(), kLongestWork);
}

}  // namespace vicinity

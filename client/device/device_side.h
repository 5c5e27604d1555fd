// The device of a loader, and what all of its columns use there.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/base/device.h"
#include "cache/device/row_mover.h"
#include "client/types/loader_values.h"

namespace vicinity {

// The device that the options name. FailedPrecondition, telling what to do, if this build or
// this machine has none; InvalidArgument for an ordinal that does not exist.
absl::StatusOr<std::shared_ptr<Device>> OpenLoaderDevice(const DeviceOptions& options);

// Owned by the columns together; tensors on their way to trainers keep the device alone.
//
// Threads: any number.
class DeviceSide {
 public:
  // A ring of `staging_bytes` or of sixteen rows, whichever is more; who finds it full waits for
  // the device, at most `timeout`. ResourceExhausted: no memory.
  static absl::StatusOr<std::shared_ptr<DeviceSide>> Create(std::shared_ptr<Device> device,
                                                            int64_t staging_bytes,
                                                            int64_t widest_row_bytes,
                                                            std::chrono::nanoseconds timeout);

  const std::shared_ptr<Device>& device() const { return device_; }
  RowMover* mover() const { return mover_.get(); }
  int64_t staging_bytes() const { return staging_bytes_; }

  // Waits until all that was put into the mover's stream is done: before memory that it names goes.
  absl::Status Finish() const;

 private:
  explicit DeviceSide(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  const std::shared_ptr<Device> device_;
  std::unique_ptr<RowMover> mover_;
  int64_t staging_bytes_ = 0;
};

}  // namespace vicinity

// The home shard's rows where a device reads them: the likeliest on the device, the others in
// pinned host memory.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/device/copy_rows.h"
#include "cache/device/row_mover.h"

namespace vicinity {

// How rows come that are not on the device.
enum class FarRead : uint8_t {
  kDirect,  // from pinned memory, where the gather reads them over the device's link, row by row
  kStaged,  // from the column itself: the host puts them together and sends them
};

// Rows behind each other in this machine's memory.
struct HostRows {
  const char* data = nullptr;
  int64_t num_rows = 0;
  int64_t row_bytes = 0;
};

// A shard's rows are in VIP order (partition/dataset/shard.h), so those on the device are its
// first.
//
// Threads:  any number. Lifetime: the mover outlives it, and with kStaged so do the rows.
// Memory:   with kDirect all rows, on the device or pinned; with kStaged those on the device.
class HomeRows {
 public:
  // The first `device_rows` rows go to the device (all, if there are fewer). InvalidArgument: more
  // than 2^31 - 1 rows, which a device's lists cannot name, or a negative device_rows;
  // ResourceExhausted: no memory.
  static absl::StatusOr<std::unique_ptr<HomeRows>> Create(RowMover* mover, const HostRows& rows,
                                                          int64_t device_rows, FarRead far);

  // Puts their copies into the mover's stream: local row rows[i] goes to row to_rows[i] of `to`,
  // which is device memory. InvalidArgument, before anything is moved, for what is no row.
  absl::Status Gather(absl::Span<const int32_t> rows, const RowPlaces& to,
                      absl::Span<const int64_t> to_rows) const;

  int64_t row_bytes() const { return places_.stride; }
  int64_t num_rows() const { return places_.num_rows; }
  int64_t device_rows() const { return places_.split; }

 private:
  HomeRows(RowMover* mover, const HostRows& rows, FarRead far)
      : mover_(mover), rows_(rows.data), far_read_(far) {}

  absl::Status GatherStaged(absl::Span<const int32_t> rows, const RowPlaces& to,
                            absl::Span<const int64_t> to_rows) const;

  RowMover* const mover_;
  const char* const rows_;  // read with kStaged alone
  const FarRead far_read_;
  DeviceMemory near_;
  DeviceMemory far_;
  RowPlaces places_;
};

}  // namespace vicinity

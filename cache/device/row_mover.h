// Rows between host and device, and from place to place there: everything that touches a pool's
// rows goes through one stream, so it happens in the order in which it was asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/device/base/device.h"
#include "cache/device/base/staging_ring.h"
#include "cache/device/copy_rows.h"

namespace vicinity {

// Writes row i of the rows that are asked for, of a range [first, first + n), to out + i *
// row_bytes.
using StageRows = std::function<void(int64_t first, int64_t n, char* out)>;

// A call returns when the work is in the stream and what it was given (lists, rows) is no longer
// needed; it waits on the host only for room in the ring. Its errors are those of the ring and the
// device; after one, part of the work may be in the stream.
//
// Threads:  any number; the work of calls that overlap may mix, piece by piece.
// Lifetime: the device outlives it, it outlives the memory that work in the stream names.
class RowMover {
 public:
  static absl::StatusOr<std::unique_ptr<RowMover>> Create(Device* device,
                                                          const StagingRing::Options& options);

  // Row from_rows[i] of `from` goes to row to_rows[i] of `to`. InvalidArgument, before anything is
  // moved, naming an index that is no row.
  absl::Status Gather(const RowPlaces& from, absl::Span<const int32_t> from_rows,
                      const RowPlaces& to, absl::Span<const int64_t> to_rows, int64_t row_bytes);

  // Rows from the host, as `stage` writes them, go to rows to_rows[i] of `to`. InvalidArgument as
  // Gather's, and for rows that are larger than a chunk of the ring.
  absl::Status Send(int64_t row_bytes, const StageRows& stage, const RowPlaces& to,
                    absl::Span<const int32_t> to_rows);

  // A copy of `bytes` in memory of its own: there at this point of the stream.
  absl::StatusOr<DeviceMemory> Place(MemoryKind kind, absl::Span<const char> bytes);

  Device* device() const { return device_; }
  DeviceStream* stream() const { return stream_.get(); }
  StagingRing* ring() const { return ring_.get(); }

 private:
  explicit RowMover(Device* device) : device_(device) {}

  Device* const device_;
  std::unique_ptr<DeviceStream> stream_;
  std::unique_ptr<StagingRing> ring_;
};

// InvalidArgument if a list that a caller brings names what is no row.
absl::Status CheckRows(absl::Span<const int32_t> rows, const RowPlaces& places);
absl::Status CheckRows(absl::Span<const int64_t> rows, const RowPlaces& places);

}  // namespace vicinity

// The look-ahead pool in device memory: planned on the host, filled through a staging ring, read by
// a gather on the device, and nowhere a wait between the two.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/device/copy_rows.h"
#include "cache/device/row_mover.h"
#include "cache/pool/look_ahead_planner.h"
#include "cache/pool/planned_pool.h"
#include "cache/pool/row_pool.h"

namespace vicinity {

// Device memory is taken once, for the capacity and for the rows over it, and never grows: a batch
// that finds no room is refused. Whatever reads or writes a slot goes through the mover's stream,
// in the order of the calls, so a slot's next row cannot come before the gather of the last.
//
// Threads and order as PlannedPool.
// Lifetime: the mover outlives the pool; what is in its stream is done before the pool goes.
class DevicePool : public PlannedPool {
 public:
  struct Options {
    int64_t row_bytes = 0;      // at least 1, and no larger than the ring's chunks allow
    int64_t capacity_rows = 0;  // rows of batches in flight count
    // Rows over it, for what batches in flight need beyond. A batch is admitted if all its rows
    // would fit in beside those that batches in flight mention: capacity and staged rows together
    // bound how many batches these are.
    int64_t staged_rows = 0;
  };

  // `ranked` and `fill` as LookAheadPool's. InvalidArgument for what cannot be; ResourceExhausted:
  // the device has not so much memory; else what `fill` said.
  static absl::StatusOr<std::unique_ptr<DevicePool>> Create(RowMover* mover, const Options& options,
                                                            absl::Span<const int64_t> ranked,
                                                            const FillRows& fill);

  absl::StatusOr<PoolBatch> Admit(absl::Span<const int64_t> ids) override;
  // The rows are on their way to the device when it returns, and `rows` may go.
  absl::Status Deliver(const PoolBatch& batch, int64_t first, absl::Span<const char> rows) override;
  // To host memory. Waits for the device, at most `timeout` too: for tests and for who has no use
  // for the rows there.
  absl::Status Assemble(const PoolBatch& batch, absl::Span<const int64_t> positions,
                        std::chrono::nanoseconds timeout, char* out) override;
  int64_t row_bytes() const override { return options_.row_bytes; }
  int64_t device_bytes() const { return memory_.bytes(); }

  // Puts the gather of the batch's rows into the mover's stream: row i goes to row positions[i] of
  // `to`, which is device memory. Waits, as Assemble does, only until the batch's rows have been
  // Delivered. The batch may be Released at once.
  absl::Status AssembleOnDevice(const PoolBatch& batch, absl::Span<const int64_t> positions,
                                std::chrono::nanoseconds timeout, const RowPlaces& to);

 private:
  DevicePool(RowMover* mover, const Options& options, std::unique_ptr<LookAheadPlanner> planner);

  absl::Status Fill(absl::Span<const int64_t> ids, const FillRows& fill);
  absl::Status SendRows(const PoolBatch& batch, int64_t first, absl::Span<const char> rows);
  absl::Status CheckRoom(int64_t num_rows) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  RowMover* const mover_;
  const Options options_;
  DeviceMemory memory_;
  RowPlaces slots_;
};

}  // namespace vicinity

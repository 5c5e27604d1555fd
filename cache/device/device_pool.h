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
#include "cache/device/device_index.h"
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
    bool index = false;  // answers LookUp
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

  // For ids that are on the device already: slots[i] (device memory) says where the row of ids[i]
  // is, -1 for one that is not there; with `to`, the rows that are there go to their places in it.
  // What it finds is there at that point of the stream and may be gone at the next.
  // FailedPrecondition without an index.
  absl::Status LookUp(const int64_t* ids, int64_t num_ids, int32_t* slots, const RowPlaces* to);
  LookUpCounts look_up_counts() const;

 private:
  DevicePool(RowMover* mover, const Options& options, std::unique_ptr<LookAheadPlanner> planner);

  absl::Status Fill(absl::Span<const int64_t> ids, const FillRows& fill);
  absl::Status SendRows(const PoolBatch& batch, int64_t first, absl::Span<const char> rows);
  // `gone`: what the index still says of the slots that missing rows got.
  absl::Status PlanIntoRoom(absl::Span<const int64_t> ids, PoolBatch* batch,
                            std::vector<SlotOfId>* gone);
  // The slots of the batch's missing rows are theirs now; what they were before.
  std::vector<SlotOfId> Reassign(absl::Span<const int64_t> ids, const PoolBatch& batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  RowMover* const mover_;
  const Options options_;
  DeviceMemory memory_;
  RowPlaces slots_;
  std::unique_ptr<DeviceIndex> index_;                // null: without; its mutex is taken after mu_
  std::vector<int64_t> owners_ ABSL_GUARDED_BY(mu_);  // of slots: the id, -1; with an index alone
};

}  // namespace vicinity

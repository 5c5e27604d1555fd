// The look-ahead pool in host memory: one copy of a row for all batches in flight, and of the rest
// the rows that are needed soonest, or likeliest where nobody can tell (look_ahead_planner.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/pool/look_ahead_planner.h"
#include "cache/pool/planned_pool.h"
#include "cache/pool/row_pool.h"
#include "cache/pool/row_slab.h"

namespace vicinity {

// Its capacity counts the rows of batches in flight, too: only what these need beyond it is staged
// outside. Without announcements it keeps the likeliest rows; without a capacity none but those of
// batches in flight, which share them.
//
// Threads and order as PlannedPool.
class LookAheadPool : public PlannedPool {
 public:
  // `ranked`: nodes that batches may need, likeliest first; neither it nor `fill` is kept. The
  // first `capacity_rows` of them are there from the start, asked for some ten megabytes at a time.
  // More, say twice as many, make better choices later. InvalidArgument as LookAheadPlanner's and
  // for row_bytes < 1; ResourceExhausted: no memory; else what `fill` said.
  static absl::StatusOr<std::unique_ptr<LookAheadPool>> Create(int64_t row_bytes,
                                                               int64_t capacity_rows,
                                                               absl::Span<const int64_t> ranked,
                                                               const FillRows& fill);

  absl::StatusOr<PoolBatch> Admit(absl::Span<const int64_t> ids) override;
  absl::Status Deliver(const PoolBatch& batch, int64_t first, absl::Span<const char> rows) override;
  absl::Status Assemble(const PoolBatch& batch, absl::Span<const int64_t> positions,
                        std::chrono::nanoseconds timeout, char* out) override;
  int64_t row_bytes() const override { return row_bytes_; }

 private:
  LookAheadPool(int64_t row_bytes, std::unique_ptr<LookAheadPlanner> planner);

  absl::Status Fill(absl::Span<const int64_t> ids, const FillRows& fill);

  bool Grow(int64_t num_slots);  // false: no memory

  const int64_t row_bytes_;
  RowSlab slab_;  // grows under no lock: whoever has a slot got it after its growth
};

}  // namespace vicinity

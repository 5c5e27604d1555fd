// Rows by slot in host memory, and which of them have come: the half of a pool that has bytes and
// threads, while a planner says which slot is whose.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cache/arrivals.h"
#include "cache/row_pool.h"
#include "cache/row_slab.h"

namespace vicinity {

// Threads: Grow and Expect by one at a time; the others by any number.
// Memory:  as RowSlab's, and a byte a slot.
class ArrivingRows {
 public:
  explicit ArrivingRows(int64_t row_bytes) : row_bytes_(row_bytes), slab_(row_bytes) {}

  // Makes slots [0, num_slots) usable, new ones as if their rows had come; false: no memory.
  bool Grow(int64_t num_slots);

  // As Arrivals'.
  void Expect(PoolBatch* batch) { arrivals_.Expect(batch); }
  std::vector<int32_t> GiveUp(const PoolBatch& batch) { return arrivals_.GiveUp(batch); }
  absl::Status Wait(const PoolBatch& batch, std::chrono::nanoseconds timeout) {
    return arrivals_.Wait(batch, timeout);
  }

  // As RowPool::Deliver.
  absl::Status Deliver(const PoolBatch& batch, int64_t first, absl::Span<const char> rows);

  // Of a slot that the caller was given by a batch, or before there were any.
  char* Row(int32_t slot) { return slab_.Row(slot); }

 private:
  const int64_t row_bytes_;
  RowSlab slab_;  // grows under no lock: whoever has a slot got it after its growth
  Arrivals arrivals_;
};

}  // namespace vicinity

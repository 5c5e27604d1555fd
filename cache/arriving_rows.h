// Rows by slot in host memory, and which of them have come: the half of a pool that has bytes and
// threads, while a planner says which slot is whose.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cache/row_pool.h"
#include "cache/row_slab.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Threads: Grow and Expect by one at a time; the others by any number.
// Memory:  as RowSlab's, and a byte a slot.
class ArrivingRows {
 public:
  explicit ArrivingRows(int64_t row_bytes) : row_bytes_(row_bytes), slab_(row_bytes) {}

  // Makes slots [0, num_slots) usable, new ones as if their rows had come; false: no memory.
  bool Grow(int64_t num_slots);

  // A batch with slots for all its ids: finds those that others are fetching (`awaited`), and from
  // now on waits for its missing ones.
  void Expect(PoolBatch* batch);

  // As RowPool::Deliver.
  absl::Status Deliver(const PoolBatch& batch, int64_t first, absl::Span<const char> rows);

  // Nobody waits any longer for the batch's rows that have not come; which ones these are, as
  // indexes into its ids.
  std::vector<int32_t> GiveUp(const PoolBatch& batch);

  // Until all of the batch's rows have come. Unavailable if one never will; DeadlineExceeded after
  // `timeout`, telling how many have not.
  absl::Status Wait(const PoolBatch& batch, std::chrono::nanoseconds timeout);

  // Of a slot that the caller was given by a batch, or before there were any.
  char* Row(int32_t slot) { return slab_.Row(slot); }

 private:
  enum class State : uint8_t { kThere, kFetching, kArriving, kGivenUp };

  absl::StatusOr<int64_t> CountAbsent(const PoolBatch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int64_t row_bytes_;
  RowSlab slab_;  // grows under no lock: whoever has a slot got it after its growth
  Mutex mu_;
  CondVar changed_;                                 // rows came or were given up
  std::vector<State> states_ ABSL_GUARDED_BY(mu_);  // by slot
};

}  // namespace vicinity

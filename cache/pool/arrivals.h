// Which rows of a pool have come, by slot: who fetches one, who waits for it, and what is given up.
// It knows no bytes, so pools in host memory and on a device share it.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cache/pool/row_pool.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Threads: Grow and Expect by one at a time; the others by any number.
// Memory:  a byte a slot.
class Arrivals {
 public:
  // Slots [0, num_slots) exist, new ones as if their rows had come.
  void Grow(int64_t num_slots);

  // A batch with slots for all its ids: finds those that others are fetching (`awaited`), and from
  // now on waits for its missing ones.
  void Expect(PoolBatch* batch);

  // Missing rows [first, first + num_rows) begin to come: until they are Finished nobody else looks
  // at their bytes. InvalidArgument, and nothing is changed, if they do not lie in `missing` or one
  // of them was delivered or abandoned before.
  absl::Status Begin(const PoolBatch& batch, int64_t first, int64_t num_rows);
  // They are there, or, after all, they are not.
  void Finish(const PoolBatch& batch, int64_t first, int64_t num_rows, bool there);

  // Nobody waits any longer for the batch's rows that have not come; which ones these are, as
  // indexes into its ids.
  std::vector<int32_t> GiveUp(const PoolBatch& batch);

  // Until all of the batch's rows have come. Unavailable if one never will; DeadlineExceeded after
  // `timeout`, telling how many have not.
  absl::Status Wait(const PoolBatch& batch, std::chrono::nanoseconds timeout);

 private:
  enum class State : uint8_t { kThere, kFetching, kArriving, kGivenUp };

  absl::StatusOr<int64_t> CountAbsent(const PoolBatch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Mutex mu_;
  CondVar changed_;                                 // rows came or were given up
  std::vector<State> states_ ABSL_GUARDED_BY(mu_);  // by slot
};

// InvalidArgument unless `num_bytes` are rows of `row_bytes` that lie in `missing` from `first` on.
absl::Status CheckDelivery(const PoolBatch& batch, int64_t first, int64_t num_bytes,
                           int64_t row_bytes);

}  // namespace vicinity

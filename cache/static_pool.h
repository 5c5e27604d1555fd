// The static VIP cache in host memory: a fixed set of rows, filled once; what a batch misses is
// staged until no batch in flight needs it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/row_pool.h"
#include "cache/row_slab.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Cost: a lookup in a table that is never written for a row of the set; one under the lock for
// others.
class StaticPool : public RowPool {
 public:
  // Holds the rows of `ids` (global ids, likeliest first), asking `fill` for some ten megabytes at
  // a time; `fill` is not kept. No ids: everything is staged. InvalidArgument for row_bytes < 1 and
  // for an id that is negative or repeated, naming it; else what `fill` said.
  static absl::StatusOr<std::unique_ptr<StaticPool>> Create(int64_t row_bytes,
                                                            absl::Span<const int64_t> ids,
                                                            const FillRows& fill);

  absl::StatusOr<PoolBatch> Admit(absl::Span<const int64_t> ids) override;
  absl::Status Deliver(const PoolBatch& batch, int64_t first, absl::Span<const char> rows) override;
  void Abandon(const PoolBatch& batch) override;
  absl::Status Assemble(const PoolBatch& batch, absl::Span<const int64_t> positions,
                        std::chrono::nanoseconds timeout, char* out) override;
  void Release(const PoolBatch& batch) override;
  int64_t row_bytes() const override { return row_bytes_; }
  PoolStats stats() const override;

 private:
  // Staged rows have slots behind those of the fixed set.
  enum class State : uint8_t { kFree, kFetching, kArriving, kReady, kAbandoned };
  struct Staged {
    int64_t id = -1;
    int64_t admission = -1;  // the call of Admit that has to fetch it
    int32_t pins = 0;        // mentions in batches in flight
    State state = State::kFree;
  };

  StaticPool(int64_t row_bytes, int32_t capacity, std::unique_ptr<char[]> core_rows);

  absl::Status IndexCore(absl::Span<const int64_t> ids);
  bool IsStaged(int32_t slot) const { return slot >= capacity_; }
  Staged& staged(int32_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return staged_[slot - capacity_];
  }
  const char* Row(int32_t slot) const {
    return IsStaged(slot) ? slab_.Row(slot - capacity_) : core_rows_.get() + slot * row_bytes_;
  }

  absl::Status Stage(absl::Span<const int64_t> ids, PoolBatch* batch);
  int32_t TakeSlot(int64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AbandonLocked(const PoolBatch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // How many of the batch's rows are on their way; Unavailable if one was abandoned.
  absl::StatusOr<int64_t> CountAbsent(const PoolBatch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status WaitForRows(const PoolBatch& batch, std::chrono::nanoseconds timeout);

  const int64_t row_bytes_;
  const int32_t capacity_;                      // rows of the fixed set
  const std::unique_ptr<char[]> core_rows_;     // by slot
  absl::flat_hash_map<int64_t, int32_t> core_;  // id to slot; not written after Create

  mutable Mutex mu_;
  CondVar changed_;  // a staged row came or was abandoned
  // Grown under the lock; a row is written by who fetches it and then read by who pins it.
  RowSlab slab_;
  std::vector<Staged> staged_ ABSL_GUARDED_BY(mu_);
  std::vector<int32_t> free_ ABSL_GUARDED_BY(mu_);  // slots
  // Of staged rows that are there or on their way.
  absl::flat_hash_map<int64_t, int32_t> staged_slots_ ABSL_GUARDED_BY(mu_);
  int64_t num_admissions_ ABSL_GUARDED_BY(mu_) = 0;
  PoolStats stats_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity

// Where a trainer keeps remote rows: a pool of slots that batches in flight share.
//
// The life of a batch in the pool: Admit finds each row in the pool, on its way, or missing, and
// gives missing rows slots; Deliver puts arrived rows there; Assemble writes the batch's rows into
// one contiguous tensor; Release lets go. This is the interface of every policy and backend: the
// static VIP cache in host memory, the look-ahead pool, the device pool.
// tests/contract/row_pool_contract.h is what each of them must pass.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace vicinity {

// Writes the rows of `ids`, in their order, to `out`: what a pool is filled from at first.
using FillRows = std::function<absl::Status(absl::Span<const int64_t> ids, char* out)>;

// A batch's rows in the pool. Made by Admit, given back by Release exactly once; the same object,
// or a copy of it, goes to every call about the batch.
struct PoolBatch {
  int64_t ticket = 0;          // the pool's own name for it
  std::vector<int32_t> slots;  // of each id admitted; only the pool that made them can read them
  // Rising indexes into the ids: rows for the caller to fetch and Deliver.
  std::vector<int32_t> missing;
  // Rising indexes of rows that an earlier batch is fetching.
  std::vector<int32_t> awaited;
};

struct PoolStats {
  int64_t capacity_rows = 0;
  int64_t lookups = 0;      // rows asked for: hits + fetched
  int64_t hits = 0;         // found there, or on their way
  int64_t fetched = 0;      // missing rows given to the caller
  int64_t staged_rows = 0;  // most rows held outside the capacity at once (in flight)
};

// Threads:  all methods may be called from any number of threads at once, for different batches and
//           for one; but Release ends a batch: no other call about it may be under way or follow.
// Memory:   the capacity, and the missing rows of the batches in flight, which whoever admits
//           bounds.
class RowPool {
 public:
  virtual ~RowPool() = default;

  // What a later Admit will ask for. Batches may be announced as soon as they are sampled, in the
  // order in which they will be admitted: a pool that looks ahead then keeps what they need, others
  // take no notice. While there are announced batches, a pool that looks ahead admits them alone,
  // oldest first. InvalidArgument for a negative id, ResourceExhausted if too much is announced.
  virtual absl::Status Announce(absl::Span<const int64_t> ids) {
    static_cast<void>(ids);
    return absl::OkStatus();
  }
  // Drops the announcements that were not admitted: when an epoch ends early.
  virtual void Forget() {}

  // `ids`: global ids of one node type, none local. Pins every row until Release. A repeated id
  // gets the slot of its first mention and is fetched once. InvalidArgument for a negative id, and
  // for ids that were not announced next; ResourceExhausted if there is no room for slots. Nothing
  // is pinned then.
  virtual absl::StatusOr<PoolBatch> Admit(absl::Span<const int64_t> ids) = 0;

  // Rows for missing[first], missing[first + 1], ...: rows.size() is a multiple of row_bytes. Each
  // row is delivered once, in any pieces and order. InvalidArgument, and nothing is written, if the
  // rows do not lie in `missing` or one of them was delivered or abandoned before.
  virtual absl::Status Deliver(const PoolBatch& batch, int64_t first,
                               absl::Span<const char> rows) = 0;

  // The caller could not fetch what is not delivered yet: this batch, and those that await these
  // rows, get Unavailable from Assemble. A batch admitted later fetches them itself. No Deliver of
  // the batch may be under way.
  virtual void Abandon(const PoolBatch& batch) = 0;

  // Writes row i to out + positions[i] * row_bytes(). Waits for rows that are on their way, this
  // batch's own included, until `timeout` has passed: DeadlineExceeded, naming how many are not
  // there. Unavailable if one of them was abandoned. InvalidArgument unless there is a position for
  // each id.
  virtual absl::Status Assemble(const PoolBatch& batch, absl::Span<const int64_t> positions,
                                std::chrono::nanoseconds timeout, char* out) = 0;

  // Unpins the batch's rows, after Abandon() of those that were not delivered.
  virtual void Release(const PoolBatch& batch) = 0;

  virtual int64_t row_bytes() const = 0;
  virtual PoolStats stats() const = 0;
};

}  // namespace vicinity

// Where a trainer keeps remote rows: a pool of slots that batches in flight share.
//
// The life of a batch in the pool: Admit finds each row in the pool, on its way, or missing, and gives
// missing rows slots; Deliver puts arrived rows there; Assemble writes the batch's rows
// into one contiguous tensor; Release lets go. This is the interface of every policy and
// backend: the static VIP cache in host memory, the look-ahead pool, the device pool.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/common/ids.h"

namespace vicinity {

// A batch's rows in the pool. Made by Admit, given back by Release exactly once.
struct PoolBatch {
  std::vector<int32_t> slots;    // of each id admitted
  std::vector<int32_t> missing;  // indexes into the ids: rows that the caller must fetch and Deliver
  std::vector<int32_t> awaited;  // indexes of rows that an earlier batch is fetching
};

struct PoolStats {
  int64_t capacity_rows = 0;
  int64_t lookups = 0;     // rows asked for
  int64_t hits = 0;        // found there, or on their way
  int64_t fetched = 0;     // missing rows given to the caller
  int64_t staged_rows = 0; // most rows held outside the capacity at once (in flight)
};

// Threads: all methods may be called from any number of threads at once.
class RowPool {
 public:
  virtual ~RowPool() = default;

  // `ids`: global ids of one node type, each at most once, none local. Pins every row until Release.
  virtual PoolBatch Admit(absl::Span<const int64_t> ids) = 0;

  // Rows for missing[first], missing[first + 1], ...: rows.size() is a multiple of row_bytes.
  virtual void Deliver(const PoolBatch& batch, int64_t first, absl::Span<const char> rows) = 0;

  // The caller could not fetch: those who await these rows get Unavailable from Assemble.
  virtual void Abandon(const PoolBatch& batch) = 0;

  // Writes row i to out + positions[i] * row_bytes. Waits for awaited rows until `deadline`
  // (absl::Time semantics of the caller's clock): DeadlineExceeded, naming how many are not there.
  virtual absl::Status Assemble(const PoolBatch& batch, absl::Span<const int64_t> positions,
                                char* out, int64_t timeout_ms) = 0;

  virtual void Release(const PoolBatch& batch) = 0;

  virtual int64_t row_bytes() const = 0;
  virtual PoolStats stats() const = 0;
};

}  // namespace vicinity

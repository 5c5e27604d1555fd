// The rows of one minibatch on their way into its tensors: from mapped shards, from the row pool,
// from servers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cache/row_pool.h"
#include "client/cancellation.h"
#include "client/loader.h"
#include "client/shard_router.h"
#include "proto/common/ids.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// A batch's hold on a pool's rows; lets go when it is destroyed, abandoning what was not delivered.
//
// Lifetime: the pool must outlive it. Threads: one at a time.
class PinnedRows {
 public:
  PinnedRows() = default;
  PinnedRows(RowPool* pool, PoolBatch batch);
  ~PinnedRows();
  PinnedRows(PinnedRows&& other) noexcept;
  PinnedRows& operator=(PinnedRows&& other) noexcept;

  const PoolBatch& batch() const { return batch_; }

 private:
  RowPool* pool_ = nullptr;
  PoolBatch batch_;
};

// One column that every batch brings.
struct ColumnPlan {
  NodeTypeId type;
  int32_t column = 0;             // position in the type
  std::unique_ptr<RowPool> pool;  // for its remote rows; null: they are fetched every time
};

// A batch's nodes of one type by where their rows are, each with its position in the tensors.
struct SplitNodes {
  std::vector<int64_t> local;  // global ids
  std::vector<int64_t> local_positions;
  std::vector<int64_t> remote;
  std::vector<int64_t> remote_positions;
};

struct BatchRows {
  struct Column {
    PinnedRows pinned;             // of the remote nodes, if the column has a pool
    std::vector<int64_t> missing;  // the nodes among them that are to be fetched
    BatchColumn result;
  };
  std::vector<SplitNodes> nodes;  // by node type; empty for types without columns
  std::vector<Column> columns;
};

// The steps in their order: Split, Announce, Admit, Fetch, Assemble; Announce and Admit for one
// batch after the other, in one order.
//
// Threads:  any number, for different batches. Lifetime: the router must outlive it.
class RowLoader {
 public:
  struct Counts {
    std::atomic<int64_t> local{0};
    std::atomic<int64_t> cached{0};
    std::atomic<int64_t> remote{0};
    std::atomic<int64_t> remote_bytes{0};
  };

  RowLoader(const ShardRouter& router, std::vector<ColumnPlan> columns);

  // Tells near from far.
  BatchRows Split(const SampledGraph& graph) const;
  // What the batch will hold at its largest: its tensors, and rows staged in pools.
  int64_t Bytes(const BatchRows& rows) const;
  // Tells the pools which rows the batch will be admitted with; may be left out for all batches.
  absl::Status Announce(const BatchRows& rows) const;
  // Of announced batches that will not be admitted, all are dropped.
  void Forget() const;
  // Finds remote rows in the pools.
  absl::Status Admit(BatchRows* rows) const;
  // Brings what is missing, all columns and shards at the same time.
  absl::Status Fetch(BatchRows* rows, Cancellation* cancel) const;
  // Completes the tensors.
  absl::Status Assemble(BatchRows* rows, std::chrono::nanoseconds timeout) const;

  const std::vector<ColumnPlan>& columns() const { return columns_; }
  const Counts& counts() const { return counts_; }

 private:
  const ShardRouter& router_;
  const std::vector<ColumnPlan> columns_;
  mutable Counts counts_;
};

}  // namespace vicinity

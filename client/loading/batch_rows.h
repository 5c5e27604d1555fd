// The rows of one minibatch on their way into its tensors: from mapped shards, from the row pool,
// from servers; on the host, or on a device.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cache/pool/row_pool.h"
#include "client/device/device_column.h"
#include "client/device/device_side.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "client/shards/split_nodes.h"
#include "client/types/loader_values.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
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
  // Of a batch's lists of nodes, whose rows; -1: that of its type.
  int32_t nodes() const { return list < 0 ? type.value : list; }

  NodeTypeId type;
  int32_t column = 0;  // position in the type, or kKeyColumn
  int32_t list = -1;
  // What pool and device lie on, so it goes last; null: the host.
  std::shared_ptr<DeviceSide> side;
  // For its remote rows, which batches in flight share; null: rows of no bytes. Owned by the plans
  // of the column: there is one for each list that it is brought for.
  std::shared_ptr<RowPool> pool;
  int64_t cache_rows = 0;  // that the pool keeps for batches to come; 0 of its later plans
  // Where its tensors are made, from the pool's rows too; null: on the host.
  std::unique_ptr<DeviceColumn> device;
};

// Nodes of one type whose rows a batch needs. Lifetime: as what it was made of.
struct NodeList {
  absl::Span<const int64_t> ids;  // global, each once
  // Of each row of a column, which of the ids it belongs to, numbered as they first come; empty:
  // row i belongs to ids[i].
  absl::Span<const int64_t> places;

  int64_t num_rows() const {
    return static_cast<int64_t>(places.empty() ? ids.size() : places.size());
  }
};

// Rows of a batch's columns, by where they come from; those of a list's node that comes several
// times are one.
struct RowCounts {
  int64_t local = 0;
  int64_t cached = 0;  // in a pool, or on their way for an earlier batch
  int64_t remote = 0;
  int64_t remote_bytes = 0;
  int64_t fetched_nodes = 0;  // with remote rows: each once, whatever the number of its columns
};

struct BatchRows {
  struct Column {
    PinnedRows pinned;             // of the remote nodes
    std::vector<int64_t> missing;  // the nodes among them that are to be fetched
    BatchColumn result;
  };
  // A row that is another's once more, by their numbers.
  struct Repeat {
    int64_t row = 0;
    int64_t first = 0;
  };
  std::vector<SplitNodes> nodes;             // by list; empty for lists without columns
  std::vector<std::vector<Repeat>> repeats;  // likewise
  std::vector<Column> columns;
};

// The steps in their order: Split, Announce, Admit, Fetch, Assemble; Announce, Admit and Assemble
// for one batch after the other, in one order. A batch has its tensors from Assemble on; before,
// it holds of its columns remote rows alone, and those until its BatchRows go.
//
// Threads:  any number, for different batches. Lifetime: the router must outlive it; tensors on
//           a device may outlive it.
class RowLoader {
 public:
  RowLoader(const ShardRouter& router, std::vector<ColumnPlan> columns);

  // Tells near from far. With a device no list has `places`.
  BatchRows Split(absl::Span<const NodeList> lists) const;
  // Of a minibatch, whose lists are those of its types.
  BatchRows Split(const SampledGraph& graph) const;
  // What the batch holds at its largest: its tensors, and rows in pools.
  int64_t Bytes(const BatchRows& rows) const;
  // What the pools need to know of the batch once it is announced.
  int64_t AnnouncedBytes(const BatchRows& rows) const;
  // Tells the pools which rows the batch will be admitted with; may be left out for all batches.
  absl::Status Announce(const BatchRows& rows) const;
  // Of announced batches that will not be admitted, all are dropped.
  void Forget() const;
  // Finds remote rows in the pools; adds what it found to `counts`.
  absl::Status Admit(BatchRows* rows, RowCounts* counts) const;
  // Brings what is missing, all columns and shards at the same time.
  absl::Status Fetch(BatchRows* rows, const CallContext& context) const;
  // Waits until there are tensors for another batch, no longer than `timeout`; whether there are.
  // On the host there always are; on a device those that the trainer has let go of and its streams
  // are through with, so that rows of the next batch do not stand behind its work.
  bool WaitForTensors(std::chrono::nanoseconds timeout) const;
  // Makes the tensors.
  absl::Status Assemble(BatchRows* rows, std::chrono::nanoseconds timeout) const;

  const std::vector<ColumnPlan>& columns() const { return columns_; }
  // Of the batches that were Counted, which is for those that a trainer takes.
  void Count(const RowCounts& counts) const;
  RowCounts counts() const;
  int64_t device_bytes() const;

 private:
  // All of a column but rows of mapped shards, on the host.
  absl::Status AssembleRemote(size_t c, const SplitNodes& nodes, BatchRows::Column* column,
                              std::chrono::nanoseconds timeout) const;

  const ShardRouter& router_;
  const std::vector<ColumnPlan> columns_;
  mutable Mutex mu_;
  mutable RowCounts counts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity

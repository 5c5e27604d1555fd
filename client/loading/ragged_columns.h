// The ragged columns of minibatches: rows of any length, from mapped shards, from what is kept of
// those of earlier batches, from servers.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/pool/ragged_cache.h"
#include "client/loading/batch_rows.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "client/types/loader_values.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// A ragged column, by numbers.
struct RaggedColumn {
  NodeTypeId type{};
  int32_t column = 0;
};

// Threads:  any number, for different batches. Lifetime: the router must outlive it.
class RaggedColumns {
 public:
  // `cache_bytes`: of the rows that are kept; 0: none.
  RaggedColumns(const ShardRouter& router, std::vector<RaggedColumn> columns, int64_t cache_bytes);

  int64_t num_columns() const { return static_cast<int64_t>(columns_.size()); }
  // What a batch's rows may take, by the mean of the rows so far: nobody knows their lengths
  // before.
  int64_t GuessBytes(const SampledGraph& graph) const;
  // For each column in turn the rows of all nodes of its type; adds where they came from to
  // `counts`. Errors as ShardAccess's; DataLoss for bytes that are no row of their column.
  absl::StatusOr<std::vector<BatchRagged>> Fetch(const SampledGraph& graph,
                                                 const CallContext& context,
                                                 RowCounts* counts) const;

 private:
  absl::StatusOr<BatchRagged> FetchColumn(size_t c, const SampledGraph& graph,
                                          const CallContext& context, RowCounts* counts) const;

  const ShardRouter& router_;
  const std::vector<RaggedColumn> columns_;
  mutable RaggedCache cache_;
  mutable Mutex mu_;
  mutable int64_t rows_so_far_ ABSL_GUARDED_BY(mu_) = 0;
  mutable int64_t bytes_so_far_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity

#include "client/loading/ragged_columns.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "client/shards/ragged_rows.h"
#include "client/shards/split_nodes.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"

namespace vicinity {

RaggedColumns::RaggedColumns(const ShardRouter& router, std::vector<RaggedColumn> columns,
                             int64_t cache_bytes)
    : router_(router), columns_(std::move(columns)), cache_(cache_bytes) {}

int64_t RaggedColumns::GuessBytes(const SampledGraph& graph) const {
  int64_t num_rows = 0;
  for (const RaggedColumn& column : columns_) {
    num_rows += static_cast<int64_t>(graph.nodes[column.type.value].ids.size());
  }
  MutexLock lock(&mu_);
  return rows_so_far_ == 0 ? 0 : num_rows * (bytes_so_far_ / rows_so_far_);
}

absl::StatusOr<std::vector<BatchRagged>> RaggedColumns::Fetch(const SampledGraph& graph,
                                                              const CallContext& context,
                                                              RowCounts* counts) const {
  std::vector<BatchRagged> columns;
  for (size_t c = 0; c < columns_.size(); ++c) {
    VICINITY_ASSIGN_OR_RETURN(columns.emplace_back(), FetchColumn(c, graph, context, counts));
  }
  return columns;
}

absl::StatusOr<BatchRagged> RaggedColumns::FetchColumn(size_t c, const SampledGraph& graph,
                                                       const CallContext& context,
                                                       RowCounts* counts) const {
  const auto [type, column] = columns_[c];
  const std::vector<int64_t>& ids = graph.nodes[type.value].ids;
  const SplitNodes nodes = NearAndFar(router_, type, ids, /*by_shard=*/false);
  std::vector<std::string> rows(ids.size());
  std::vector<size_t> missing;  // of the remote ones
  cache_.Find(c, nodes.remote, nodes.remote_positions, rows.data(), &missing);

  std::vector<int64_t> asked = nodes.local;
  for (const size_t i : missing) asked.push_back(nodes.remote[i]);
  std::vector<std::string> arrived(asked.size());
  VICINITY_RETURN_IF_ERROR(FetchRaggedBytes(router_, type, column, asked, context, arrived.data()));
  for (size_t i = 0; i < nodes.local.size(); ++i) {
    rows[nodes.local_positions[i]] = std::move(arrived[i]);
  }
  for (size_t i = 0; i < missing.size(); ++i) {
    std::string& row = arrived[nodes.local.size() + i];
    counts->remote_bytes += static_cast<int64_t>(row.size());
    rows[nodes.remote_positions[missing[i]]] = std::move(row);
  }
  counts->local += static_cast<int64_t>(nodes.local.size());
  counts->cached += static_cast<int64_t>(nodes.remote.size() - missing.size());
  counts->remote += static_cast<int64_t>(missing.size());

  const std::vector<std::string_view> views(rows.begin(), rows.end());
  BatchRagged batch;
  batch.node_type = type.value;
  VICINITY_ASSIGN_OR_RETURN(
      batch.rows, JoinRaggedRows(router_.schema().node_types[type.value].ragged[column], views));
  // Not before: a row that is none would be an error of every later batch.
  for (const size_t i : missing) {
    cache_.Keep(c, nodes.remote[i], rows[nodes.remote_positions[i]]);
  }
  MutexLock lock(&mu_);
  rows_so_far_ += static_cast<int64_t>(rows.size());
  bytes_so_far_ +=
      static_cast<int64_t>(batch.rows.values.size() + batch.rows.indices.size() * sizeof(int32_t));
  return batch;
}

}  // namespace vicinity

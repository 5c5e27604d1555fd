// Rows of edge columns, for the edges of a minibatch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "client/types/graph_values.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// A column of an edge type, by their numbers.
struct EdgeColumnPlan {
  EdgeTypeId type;
  int32_t column = 0;
};

// NotFound naming what there is: no such edge type, or it has no such column.
absl::StatusOr<EdgeColumnPlan> FindEdgeColumn(const Schema& schema, int32_t edge_type,
                                              const std::string& column);

// For each column in turn its rows for every block of its edge type, hop by hop: an edge's row is
// asked of its target's owner. All shards, columns and blocks at the same time.
//
// FailedPrecondition if the graph was sampled without edge positions; else as ShardAccess.
absl::StatusOr<std::vector<EdgeRows>> FetchEdgeRows(const ShardRouter& router,
                                                    const SampledGraph& graph,
                                                    absl::Span<const EdgeColumnPlan> columns,
                                                    const CallContext& context);

// Bytes of what FetchEdgeRows brings.
int64_t EdgeRowBytes(const ShardRouter& router, const SampledGraph& graph,
                     absl::Span<const EdgeColumnPlan> columns);

}  // namespace vicinity

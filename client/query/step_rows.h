// Rows that a step's making and its answer need: of its nodes, and of the edges that led to them.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/query/query_steps.h"
#include "client/query/step_lists.h"
#include "client/shards/call_context.h"
#include "client/shards/edge_rows.h"
#include "client/shards/shard_router.h"
#include "client/types/graph_values.h"
#include "partition/schema/condition.h"
#include "proto/common/ids.h"

namespace vicinity {

// Nodes, each once, in the order in which they come first.
struct UniqueNodes {
  std::vector<int64_t> nodes;
  std::vector<int64_t> places;  // of each that was given, among them
};
UniqueNodes Unique(absl::Span<const int64_t> given);

// A column of nodes in the book; `column` may be kKeyColumn. Errors as ShardRouter's.
absl::StatusOr<Rows> FetchNodeRows(const ShardRouter& router, NodeTypeId type, int32_t column,
                                   absl::Span<const int64_t> nodes, const CallContext& context);

// A column of the edges of lists of neighbours, which have positions, of these targets. Likewise.
absl::StatusOr<Rows> FetchStepEdgeRows(const ShardRouter& router, const EdgeColumnPlan& column,
                                       absl::Span<const int64_t> targets, const StepLists& lists,
                                       const CallContext& context);

// Of each edge of the lists its weight, by the step's weight column. DataLoss for one that is not
// finite, or below 0; else likewise.
absl::StatusOr<std::vector<double>> FetchStepWeights(const ShardRouter& router,
                                                     const ResolvedStep& step,
                                                     absl::Span<const int64_t> targets,
                                                     const StepLists& lists,
                                                     const CallContext& context);

// Of each node 1 if it meets a condition on columns of its type, else 0. Each node's row is fetched
// once, however often it comes.
absl::StatusOr<std::vector<uint8_t>> MeetCondition(const ShardRouter& router, NodeTypeId type,
                                                   const RowCondition& condition,
                                                   absl::Span<const int64_t> nodes,
                                                   const CallContext& context);

}  // namespace vicinity

// What a query is expected to cost, before it runs.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/query/query.h"
#include "client/query/query_steps.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"

namespace vicinity {

// What is known of a step before it runs.
struct KnownStep {
  int64_t num_nodes = 0;  // of kNodes: that it makes
  int64_t num_read = 0;   // NodePool::num_read()
};

// As StepCost says. `known`: of each step; only that of kNodes is looked at. Errors as ShardAccess.
// Cost: one operation a shard and edge type.
absl::StatusOr<std::vector<StepCost>> ForetellCost(const ShardRouter& router,
                                                   const std::vector<ResolvedStep>& steps,
                                                   absl::Span<const KnownStep> known,
                                                   const CallContext& context);

}  // namespace vicinity

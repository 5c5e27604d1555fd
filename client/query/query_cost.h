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

// As StepCost says. `num_nodes`: of each step that is kNodes how many it makes; of others it is not
// looked at. Errors as ShardAccess. Cost: one operation a shard and edge type.
absl::StatusOr<std::vector<StepCost>> ForetellCost(const ShardRouter& router,
                                                   const std::vector<ResolvedStep>& steps,
                                                   absl::Span<const int64_t> num_nodes,
                                                   const CallContext& context);

}  // namespace vicinity

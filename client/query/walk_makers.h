// Steps whose nodes are where random walks lead, or would in the end.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/query/query.h"
#include "client/query/query_steps.h"
#include "client/query/step_lists.h"
#include "client/query/step_makers.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"

namespace vicinity {

// A kWalk from each of `starts`: the walks that Graph::Walk makes for them by draw.Own(step), to
// `answer`, and as the lists each one's nodes of the step's node type, in the order in which it
// comes to them. Errors as CheckSize, RouteWalks.
absl::StatusOr<StepLists> MakeWalks(const ShardRouter& router, const ResolvedStep& step,
                                    absl::Span<const int64_t> starts, const StepDraw& draw,
                                    const CallContext& context, StepAnswer* answer);

// A kVisited of each of `starts`: what Graph::MostVisited gives for them by draw.Own(step), and in
// `counts` how often walks came to each. Errors as CheckSize, RouteWalks; InvalidArgument for more
// walks than a call may have.
absl::StatusOr<StepLists> MakeVisited(const ShardRouter& router, const ResolvedStep& step,
                                      absl::Span<const int64_t> starts, const StepDraw& draw,
                                      const CallContext& context, std::vector<int64_t>* counts);

// A kPpr of each of `seeds`: what Graph::PersonalizedPageRank gives for them, lists that are too
// long being drawn from by draw.Own(step); scores and residuals go to `answer`. Errors as
// CheckSize, ForwardPush::Rank.
absl::StatusOr<StepLists> MakePpr(const ShardRouter& router, const ResolvedStep& step,
                                  absl::Span<const int64_t> seeds, const StepDraw& draw,
                                  const CallContext& context, StepAnswer* answer);

}  // namespace vicinity

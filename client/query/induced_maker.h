// Steps that are a subgraph: the edges between nodes that other steps have made.
#pragma once

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/query/query.h"
#include "client/query/query_steps.h"
#include "client/query/step_makers.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "sampler/graph_builder.h"

namespace vicinity {

// A kInduced of the nodes of `among`, to `answer`: exact, and the same for any cut. Errors as
// CheckSize, which counts nodes and edges, and InduceEdges; that says what it costs, too.
absl::Status MakeInduced(const ShardRouter& router, const ResolvedStep& step,
                         absl::Span<const TypedSeeds> among, const StepDraw& draw,
                         const CallContext& context, StepAnswer* answer);

}  // namespace vicinity

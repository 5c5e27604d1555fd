// Walks over shards, wherever they are: each shard walks on until a walk leaves it.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/walk_spec.h"

namespace vicinity {

// The walks that WalkSampler makes of a spec whose p and q are 1. Errors as CheckWalks and
// ShardAccess.
//
// Cost: in a round one operation a shard where walks stand; as many rounds as the walk that crosses
// from shard to shard most often has crossings, and one.
absl::StatusOr<Walks> WalkOverShards(const ShardRouter& router, const WalkSpec& spec,
                                     absl::Span<const int64_t> starts, const MinibatchDraw& draw,
                                     bool want_edge_ids, const CallContext& context);

// Walks of any spec: those, or, where p or q is not 1, step by step those of WalkSampler, each step
// with an operation a shard for candidates and one for the pairs that edges may join.
absl::StatusOr<Walks> RouteWalks(const ShardRouter& router, const WalkSpec& spec,
                                 absl::Span<const int64_t> starts, const MinibatchDraw& draw,
                                 bool want_edge_ids, const CallContext& context);

}  // namespace vicinity

// Which nodes a trainer's batches are likeliest to need, from the rankings that a dataset has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/shard_router.h"
#include "partition/dataset/ranking.h"
#include "proto/common/ids.h"

namespace vicinity {

// The shards that a trainer's seeds are in. Which of them are its home says nothing here: rankings
// are made for the seeds of some shards (proto/manifest.proto).
struct SeedShards {
  std::vector<int32_t> shards;  // rising, of those that have seeds
  std::vector<double> shares;   // of each: its part of all seeds; above 0, their sum is 1
};
// `seeds`: node by node, each of a seed's nodes of the type in its place of `types`.
SeedShards SeedShardsOf(const ShardRouter& router, absl::Span<const NodeTypeId> types,
                        absl::Span<const int64_t> seeds);

// The likeliest `count` nodes of a type (fewer where no more can be needed) for batches of such
// seeds, with the probability that a batch needs each. The ranking made for just these shards, or
// else put together from those of smaller homes, each shard's seeds being those of the smallest
// home that it is in: of B seeds about share(h) B are in home h, and what those need hardly depends
// on the others, so
//
//   P(u) = 1 - prod over h of (1 - P_h(u)) ^ share(h)
//
// where P_h(u) is 0 for nodes that are not among the first `count` of home h.
// NotFound, with the command that makes them, if there are no such rankings; else as FetchRanking.
// Cost: 12 bytes a node and ranking over the wire.
absl::StatusOr<RankedNodes> FetchLikeliest(const ShardRouter& router, const std::string& ranking,
                                           const SeedShards& seeds, NodeTypeId type, int64_t count);

}  // namespace vicinity

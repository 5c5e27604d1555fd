// Versions of a graph's shards that fit together.
//
// Versions of several shards, asked for one after the other while writers go on, may cut between a
// node and an edge from it that lies in another shard: the edge is there, its source is not yet. A
// fold would leave the edge out, for good. So the shards that lack a source are taken a little
// later:
//
//   shard 0   ...  v  v+1 (node n)  v+2        asked first: v      raised to v+1
//   shard 1   ...        w (edge n -> t)       asked then:  w
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_shard.h"

namespace vicinity {

// The least versions, none below `versions`, at which no edge, also none that has gone since, has a
// source that its shard does not have. `shards`: of all of the dataset, in their order.
//
// Who names a new node has had its id in an answer, so the node was committed before the edge was.
// Hence it is enough that the shards have all that was committed when the last one of `versions`
// was taken. A source that its shard has at none of its versions was never in an answer: it is left
// as it is, and so is the edge, which a fold leaves out.
//
// OutOfRange: a shard has no such version yet.
// Memory: the new nodes' rows that are asked for: a number for each shard and type. Cost: looks
// once at the source of every new edge, and at a version's sizes log2(versions) times for each
// raise.
absl::StatusOr<std::vector<uint64_t>> ConsistentCut(
    const Dataset& dataset, absl::Span<const std::shared_ptr<LiveShard>> shards,
    std::vector<uint64_t> versions);

}  // namespace vicinity

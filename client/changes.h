// What has been written to a live graph, and when.
//
//   auto shards = vicinity::ReadShardStates(*graph);
//   if (!shards.ok()) return shards.error();
//   for (const vicinity::ShardState& shard : *shards) {
//     auto changes = vicinity::ReadChanges(*graph, shard.shard, /*after=*/0, /*count=*/100);
//     if (!changes.ok()) return changes.error();
//   }
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <cstdint>
#include <vector>

#include "client/graph.h"
#include "client/types/change_values.h"
#include "client/types/result.h"
#include "client/types/version_name.h"

namespace vicinity {

// Threads: functions of their arguments alone.
// Errors:  kFailedPrecondition for a graph that is not live; else as Graph's.

// All shards, each at a version that has every write which was acknowledged before.
Result<std::vector<ShardState>> ReadShardStates(const Graph& graph);

// What made the versions of a shard behind `after`, in order: `count` of them, from 1 to 65,536, or
// fewer where it has no more. A node that goes, whose key another shard lists, counts in each.
// kInvalidArgument for a shard or count out of range; kOutOfRange if `after` has a term and was
// taken back, when the writer was lost: others have followed in its place. Memory: the batches as
// the log has them, without rows: up to about 1 MiB each.
Result<std::vector<ShardChange>> ReadChanges(const Graph& graph, int32_t shard,
                                             const VersionName& after, int64_t count);

}  // namespace vicinity

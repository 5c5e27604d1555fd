// A shard whose files are mapped into this process: no RPC, no copy but the last.
#pragma once

#include <memory>

#include "client/shards/shard_access.h"
#include "client/shards/traffic.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_overlay.h"

namespace vicinity {

// Every call is over, and `done` called, when Ask returns.
//
// Lifetime: the dataset, which has the shard open, `overlay` and `traffic` must outlive it.
// Errors:   InvalidArgument naming a row outside the shard; OutOfRange for another version than it
//           has; Unimplemented for what is written; else ShardReader's and Ranking's.
//
// `overlay`: what has changed since the files were written; null: nothing.
std::unique_ptr<ShardAccess> MakeMappedShard(const Dataset& dataset, const Shard& shard,
                                             TrafficCounters* traffic,
                                             const ShardOverlay* overlay = nullptr);

}  // namespace vicinity

// A shard that one or several servers hold, as one: whoever asks it does not notice which of them
// answers, nor, as long as one does, that others fail.
//
// How calls are spread, repeated and hedged: client/replicas/replica_call.h. What a reader may rely
// on: docs/guarantees.md.
#pragma once

#include <memory>
#include <vector>

#include "client/replicas/replica_call.h"
#include "client/replicas/replica_set.h"
#include "client/shards/shard_access.h"
#include "proto/common/ids.h"

namespace vicinity {

// What is larger than one call is asked for in parts, each a call for itself with its own attempts,
// so that what fails late is not all asked again. At most `width` parts of one request are under
// way at once. There is at least one replica.
//
// Lifetime: what `tools` points to, and the servers, must outlive it.
// Errors:   as ShardAccess and ReplicaCall.
std::unique_ptr<ShardAccess> MakeReplicatedShard(ShardId shard, std::vector<ShardReplica> replicas,
                                                 int width, const CallTools& tools);

}  // namespace vicinity

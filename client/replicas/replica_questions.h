// What is asked of a shard, in a form that can be asked again and again, and aside: once for each
// method of ShardAccess.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "client/replicas/replica_call.h"
#include "client/shards/shard_access.h"

namespace vicinity {

// Each question keeps the request as ShardAccess says: what that points to, and `out`, must live
// until the call is over.
ReplicaQuestion QuestionOf(const ShardHop& hop, absl::Span<Neighbors> out);
ReplicaQuestion QuestionOf(const ShardRows& rows);
ReplicaQuestion QuestionOf(const ShardNames& names);
ReplicaQuestion QuestionOf(const ShardKeys& keys);
ReplicaQuestion QuestionOf(const ShardRanking& ranking);

// Elements [begin, end) of a request.
ShardRows Part(const ShardRows& rows, int64_t begin, int64_t end);
ShardNames Part(const ShardNames& names, int64_t begin, int64_t end);
ShardKeys Part(const ShardKeys& keys, int64_t begin, int64_t end);

}  // namespace vicinity

// Nodes and the keys of their users' ids.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "proto/common/ids.h"

namespace vicinity {

// Key and global id: sorts by key.
using KeyedNode = std::pair<uint64_t, int64_t>;

// Global ids of keys, one answer for each, -1 where no node has it: from the shards that list them.
absl::StatusOr<std::vector<int64_t>> ResolveKeys(const ShardRouter& router, NodeTypeId type,
                                                 absl::Span<const uint64_t> keys,
                                                 const CallContext& context);

// How many rows a shard has for the nodes of a type, those of nodes that are gone with them: of a
// live graph as it is now.
absl::StatusOr<int64_t> CountRows(const ShardRouter& router, ShardId shard, NodeTypeId type,
                                  const CallContext& context);

// The ids in the order of the keys; of a live graph without those of nodes that are gone.
absl::StatusOr<std::vector<int64_t>> InOrderOfKeys(const ShardRouter& router, NodeTypeId type,
                                                   std::vector<KeyedNode> nodes,
                                                   const CallContext& context);

}  // namespace vicinity

// The keys of nodes that are to be removed: a shard that lists one need not be the node's own.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "client/writes/node_counts.h"
#include "partition/dataset/book.h"
#include "proto/common/ids.h"

namespace vicinity {

struct KeysOfNodes {
  std::vector<uint64_t> keys;        // of each node; 0 where there is a fault
  std::vector<absl::Status> faults;  // of each node: NotFound where there is none, or none any more
};

// `book` grows; the nodes are in it. Waits for three round trips, all shards at once.
absl::StatusOr<KeysOfNodes> FindKeysOfNodes(const ShardRouter& router, const Book& book,
                                            NodeCounts* counts, NodeTypeId type,
                                            absl::Span<const int64_t> nodes,
                                            const CallContext& context);

}  // namespace vicinity

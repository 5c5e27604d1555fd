// From the seeds that a user lists to nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/shards/shard_router.h"
#include "client/types/seed_values.h"
#include "partition/dataset/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// Global ids of what is listed, one an entry, in the list's order; of links two, source and target.
// Errors as in client/types/seed_values.h, or the shards'; InvalidArgument for std::monostate,
// which lists nothing. `type` is that of the nodes, of links of both ends. Cost: user ids are
// looked up in the shards; a mask where ids are not dense reads a key a node.
absl::StatusOr<std::vector<int64_t>> ListedNodes(const ShardRouter& router, NodeTypeId type,
                                                 const SeedList& list);

// The node type that both ends of listed links are of. NotFound naming the edge types that there
// are; InvalidArgument if its ends are of two types.
absl::StatusOr<NodeTypeId> TypeOfLinks(const Schema& schema, const LinkList& links);

}  // namespace vicinity

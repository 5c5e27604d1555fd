// From the seeds that a user lists to nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/shard_router.h"
#include "client/types/seed_values.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// Global ids of what is listed, one an entry, in the list's order; of links two, source and target.
// Errors as in client/types/seed_values.h, or the shards'; InvalidArgument for std::monostate,
// which lists nothing. `types` is that of the nodes, or those of links' sources and targets. Cost:
// user ids are looked up in the shards; a mask where ids are not dense reads a key a node.
absl::StatusOr<std::vector<int64_t>> ListedNodes(const ShardRouter& router,
                                                 absl::Span<const NodeTypeId> types,
                                                 const SeedList& list);

// What listed links are of. NotFound naming the edge types that there are.
absl::StatusOr<EdgeTypeId> FindLinkType(const Schema& schema, const LinkList& links);

// The node types that sources and targets of listed links are of. Errors as FindLinkType.
absl::StatusOr<std::vector<NodeTypeId>> TypesOfLinks(const Schema& schema, const LinkList& links);

}  // namespace vicinity

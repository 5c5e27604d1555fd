// The nodes of the whole graph that meet a condition.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "partition/schema/condition.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

struct FoundNodes {
  std::vector<int64_t> nodes;  // global ids, in the order of their keys
  int64_t num_read = 0;        // nodes whose values were read for it, by servers or here
};

// Those of a split (kNone: of all) for which `where` holds. All shards look at the same time, and
// what comes over the wire is of the nodes that are found: a row and a key each.
//
// NotFound if the type has no split column; InvalidArgument for a condition that is too long
// together with the split. `where` is complete (CompleteCondition) for the type's columns.
absl::StatusOr<FoundNodes> FindNodes(const ShardRouter& router, NodeTypeId type, Split split,
                                     const RowCondition& where, const CallContext& context);

}  // namespace vicinity

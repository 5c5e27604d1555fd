// A dataset's rows in ranges, the pieces that checks and audits work on in parallel.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"

namespace vicinity {

// Rows [begin, end) of one node type in one shard, or the lists of these targets of one edge type.
struct RowRange {
  const Shard* shard;
  int32_t type;  // a node type's number, or an edge type's
  int64_t begin;
  int64_t end;
};

// All nodes, or all targets of all edge types, of the shards that are open. At least one range
// for each shard and type, even if it has no rows.
std::vector<RowRange> NodeRanges(const Dataset& dataset);
std::vector<RowRange> EdgeRanges(const Dataset& dataset);

}  // namespace vicinity

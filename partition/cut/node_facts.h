// What cutting a graph needs to know of every node, gathered over all shards of a dataset.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/dataset/dataset.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// The Split of every node of a type by global id; empty if the type has no split column.
// `dataset` must be whole.
std::vector<Split> ReadSplits(const Dataset& dataset, NodeTypeId type);

// The global ids, rising, of the nodes of a type that are in `split`; kNone: of all nodes.
std::vector<int64_t> NodesInSplit(const Dataset& dataset, NodeTypeId type, Split split);

// In-edges of every node of a type by global id, over all edge types. `dataset` must be whole.
std::vector<int64_t> InDegrees(const Dataset& dataset, NodeTypeId type);

int64_t NumNodes(const Dataset& dataset);  // of all types
int64_t NumEdges(const Dataset& dataset);  // of all types, in the shards that are open

}  // namespace vicinity

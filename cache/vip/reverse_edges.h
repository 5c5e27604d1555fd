// Finds edge types that are each other's reverse, as undirected graphs have them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "cache/vip/edge_weights.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"

namespace vicinity {

// The weights that edges are drawn by; none where all of a type are alike.
using WeightsOf = std::function<EdgeWeights(EdgeTypeId, const Shard&)>;

// Of each edge type: the first edge type that holds exactly its edges reversed, with
// the same weights (itself, if it is symmetric), or -1. Only types with `wanted` not 0 are looked
// at; their edges must lie in the book and the dataset must be whole. Parallel edges count. Edges
// are compared by a 64-bit hash of them all.
//
// Cost: reads the edges that may have a reverse once, with `num_threads`.
std::vector<int32_t> FindReverses(const Dataset& dataset, absl::Span<const uint8_t> wanted,
                                  const WeightsOf& weights_of, int num_threads);

}  // namespace vicinity

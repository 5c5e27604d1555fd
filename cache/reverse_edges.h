// Finds edge types that are each other's reverse, as undirected graphs have them.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "partition/dataset.h"

namespace vicinity {

// Of each edge type: the first edge type that holds exactly its edges turned round (itself, if it
// is symmetric), or -1. Only types with `wanted` not 0 are looked at; their edges must lie in the
// book and the dataset must be whole. Parallel edges count. Edges are compared by a 64-bit hash of
// them all.
//
// Cost: reads the edges that may have a reverse once, with `num_threads`.
std::vector<int32_t> FindReverses(const Dataset& dataset, absl::Span<const uint8_t> wanted,
                                  int num_threads);

}  // namespace vicinity

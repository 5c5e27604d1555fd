// Which rows a batch needs, each once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "partition/schema/sampling_spec.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// The spec for who counts nodes alone: an induced batch has the same, and many edges to find.
inline SamplingSpec NodesOf(SamplingSpec spec) {
  spec.subgraph = Subgraph::kDirectional;
  return spec;
}

// The nodes of a batch's type, which disjoint trees list once for each tree. Good as long as both
// arguments; `scratch` is overwritten where any could be listed twice.
inline absl::Span<const int64_t> DistinctNodes(const SampledNodes& nodes,
                                               std::vector<int64_t>* scratch) {
  if (nodes.trees.empty()) return nodes.ids;
  *scratch = nodes.ids;
  std::sort(scratch->begin(), scratch->end());
  scratch->erase(std::unique(scratch->begin(), scratch->end()), scratch->end());
  return *scratch;
}

}  // namespace vicinity

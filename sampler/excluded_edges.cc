#include "sampler/excluded_edges.h"

#include <cstddef>

namespace vicinity {

void ExcludedEdges::Add(EdgeTypeId type, int64_t source, int64_t target) {
  if (by_type_.size() <= static_cast<size_t>(type.value)) by_type_.resize(type.value + 1);
  by_type_[type.value][target].insert(source);
}

std::vector<ExcludedEdge> ExcludedEdges::Of(EdgeTypeId type,
                                            absl::Span<const int64_t> targets) const {
  std::vector<ExcludedEdge> excluded;
  if (static_cast<size_t>(type.value) >= by_type_.size()) return excluded;
  const SourcesByTarget& by_target = by_type_[type.value];
  if (by_target.empty()) return excluded;
  for (size_t i = 0; i < targets.size(); ++i) {
    const auto found = by_target.find(targets[i]);
    if (found == by_target.end()) continue;
    for (const int64_t source : found->second) {
      if (excluded.size() > kMost) return excluded;
      excluded.push_back({static_cast<uint32_t>(i), source});
    }
  }
  return excluded;
}

}  // namespace vicinity

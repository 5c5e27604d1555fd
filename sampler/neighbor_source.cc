#include "sampler/neighbor_source.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace vicinity {

absl::Status AddExcluded(const ExcludedEdges& all, absl::Span<RelationRequest> relations,
                         std::vector<std::vector<ExcludedEdge>>* kept) {
  kept->clear();
  for (RelationRequest& relation : relations) {
    kept->push_back(all.Of(relation.edge_type, relation.targets));
    if (kept->back().size() > ExcludedEdges::kMost) {
      return absl::InvalidArgumentError(
          absl::StrCat("disjoint trees have more than ", ExcludedEdges::kMost,
                       " excluded edges, since links share their ends: take fewer links a batch"));
    }
    relation.excluded = kept->back();  // its elements stay where they are
  }
  return absl::OkStatus();
}

absl::Status CheckDetail(EdgeDetail detail, const Neighbors& answer) {
  const size_t num_sources = answer.sources.size();
  if (answer.edge_ids.size() == (detail.ids ? num_sources : 0) &&
      answer.edge_positions.size() == (detail.positions ? num_sources : 0) &&
      answer.edge_times.size() == (detail.times ? num_sources : 0)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      answer.edge_ids.size(), " edge ids, ", answer.edge_positions.size(), " edge positions and ",
      answer.edge_times.size(), " times for ", num_sources, " neighbours"));
}

}  // namespace vicinity

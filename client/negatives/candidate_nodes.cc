#include "client/negatives/candidate_nodes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/shards/lookups.h"
#include "partition/dataset/schema.h"
#include "proto/common/status.h"

namespace vicinity {

CandidateNodes::CandidateNodes(const ShardRouter& router, NodeTypeId type)
    : router_(&router), type_(type), size_(router.book().num_nodes(type)) {}

absl::StatusOr<CandidateNodes> CandidateNodes::Uniform(const ShardRouter& router, NodeTypeId type,
                                                       int64_t most_listed) {
  CandidateNodes candidates(router, type);
  const NodeTypeSpec& spec = router.schema().node_types[type.value];
  if (candidates.size_ == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("node type ", spec.name, " has no nodes to draw negatives from"));
  }
  if (spec.id_kind == IdKind::kDense && candidates.size_ > most_listed) return candidates;
  VICINITY_ASSIGN_OR_RETURN(candidates.nodes_, NodesOfSplit(router, type, Split::kNone, {}));
  return candidates;
}

absl::StatusOr<CandidateNodes> CandidateNodes::ByDegree(const ShardRouter& router,
                                                        EdgeTypeId edge_type, double power) {
  CandidateNodes candidates(router,
                            NodeTypeId{router.schema().edge_types[edge_type.value].target_type});
  VICINITY_ASSIGN_OR_RETURN(candidates.nodes_,
                            NodesOfSplit(router, candidates.type_, Split::kNone, {}));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> degrees,
                            DegreesOf(router, edge_type, candidates.nodes_));
  double sum = 0;
  for (const int64_t degree : degrees) {
    sum += degree == 0 ? 0 : std::pow(static_cast<double>(degree), power);
    candidates.sums_.push_back(sum);
  }
  if (sum > 0) return candidates;
  return absl::InvalidArgumentError(absl::StrCat("no node has an edge of type ",
                                                 router.schema().EdgeTypeName(edge_type.value),
                                                 ", so negatives cannot be drawn by degree"));
}

int64_t CandidateNodes::Draw(NodeDraws* draws) const {
  if (sums_.empty()) return static_cast<int64_t>(draws->Below(static_cast<uint64_t>(size_)));
  // 53 bits, from [0, 1): the product may still round up to the whole sum.
  const double at = std::ldexp(static_cast<double>(draws->Next64() >> 11), -53) * sums_.back();
  const auto found = std::upper_bound(sums_.begin(), sums_.end(), at);
  if (found != sums_.end()) return found - sums_.begin();
  return std::lower_bound(sums_.begin(), sums_.end(), sums_.back()) - sums_.begin();
}

double CandidateNodes::chance(int64_t place) const {
  if (sums_.empty()) return 1;
  return sums_[place] - (place == 0 ? 0 : sums_[place - 1]);
}

absl::StatusOr<std::vector<int64_t>> CandidateNodes::NodesAt(absl::Span<const int64_t> places,
                                                             const CallContext& context) const {
  if (nodes_.empty()) return ResolveIntegers(*router_, type_, places, context);
  std::vector<int64_t> nodes;
  nodes.reserve(places.size());
  for (const int64_t place : places) nodes.push_back(nodes_[place]);
  return nodes;
}

}  // namespace vicinity

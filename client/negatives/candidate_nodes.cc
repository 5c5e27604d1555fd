#include "client/negatives/candidate_nodes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/shards/lookups.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// The sum of all units is at least half of 2 to this, and with what rounding adds below 2^64.
constexpr int kUnitBits = 61;

// The exponent of the unit, 2^-shift, of weights that are finite and not all 0.
int UnitShift(absl::Span<const double> weights) {
  int most = 0;
  std::frexp(*std::max_element(weights.begin(), weights.end()), &most);
  double sum = 0;
  for (const double weight : weights) sum += std::ldexp(weight, -most);  // it cannot overflow
  int of_sum = 0;
  std::frexp(sum, &of_sum);
  return kUnitBits - most - of_sum;
}

}  // namespace

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
  const NodeTypeId type{router.schema().edge_types[edge_type.value].target_type};
  VICINITY_ASSIGN_OR_RETURN(CandidateNodes candidates, Listed(router, type));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> degrees,
                            DegreesOf(router, edge_type, candidates.nodes_));
  std::vector<double> weights;
  weights.reserve(degrees.size());
  for (const int64_t degree : degrees) {
    weights.push_back(degree == 0 ? 0 : std::pow(static_cast<double>(degree), power));
  }
  if (candidates.SetChances(weights)) return candidates;
  return absl::InvalidArgumentError(absl::StrCat("no node has an edge of type ",
                                                 router.schema().EdgeTypeName(edge_type.value),
                                                 ", so negatives cannot be drawn by degree"));
}

absl::StatusOr<CandidateNodes> CandidateNodes::ByColumn(const ShardRouter& router, NodeTypeId type,
                                                        const std::string& column) {
  const NodeTypeSpec& spec = router.schema().node_types[type.value];
  VICINITY_ASSIGN_OR_RETURN(const int32_t found, FindNodeColumn(spec, column));
  VICINITY_ASSIGN_OR_RETURN(CandidateNodes candidates, Listed(router, type));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<double> weights,
                            NumberColumn(router, type, found, candidates.nodes_));
  VICINITY_RETURN_IF_ERROR(candidates.CheckAndSetChances(
      weights, absl::StrCat("in column ", column, " of node type ", spec.name)));
  return candidates;
}

absl::StatusOr<CandidateNodes> CandidateNodes::ByWeights(const ShardRouter& router, NodeTypeId type,
                                                         absl::Span<const double> weights) {
  const NodeTypeSpec& spec = router.schema().node_types[type.value];
  if (static_cast<int64_t>(weights.size()) != router.book().num_nodes(type)) {
    return absl::InvalidArgumentError(absl::StrCat(weights.size(), " weights of negatives for ",
                                                   router.book().num_nodes(type), " nodes of type ",
                                                   spec.name, ": one for each is needed"));
  }
  VICINITY_ASSIGN_OR_RETURN(CandidateNodes candidates, Listed(router, type));
  VICINITY_RETURN_IF_ERROR(candidates.CheckAndSetChances(
      weights, absl::StrCat("among those given for node type ", spec.name)));
  return candidates;
}

CandidateNodes CandidateNodes::Given(const ShardRouter& router, NodeTypeId type,
                                     absl::Span<const int64_t> nodes) {
  CandidateNodes candidates(router, type);
  candidates.size_ = static_cast<int64_t>(nodes.size());
  candidates.nodes_.assign(nodes.begin(), nodes.end());
  return candidates;
}

CandidateNodes CandidateNodes::Some(absl::Span<const int64_t> places) const {
  CandidateNodes some(*router_, type_);
  some.size_ = static_cast<int64_t>(places.size());
  uint64_t sum = 0;
  for (const int64_t place : places) {
    some.nodes_.push_back(nodes_[place]);
    if (sums_.empty()) continue;
    sum += sums_[place] - (place == 0 ? 0 : sums_[place - 1]);
    some.sums_.push_back(sum);
  }
  return some;
}

absl::StatusOr<CandidateNodes> CandidateNodes::Listed(const ShardRouter& router, NodeTypeId type) {
  CandidateNodes candidates(router, type);
  VICINITY_ASSIGN_OR_RETURN(candidates.nodes_, NodesOfSplit(router, type, Split::kNone, {}));
  return candidates;
}

absl::Status CandidateNodes::CheckAndSetChances(absl::Span<const double> weights,
                                                const std::string& of) {
  for (size_t place = 0; place < weights.size(); ++place) {
    if (weights[place] >= 0 && std::isfinite(weights[place])) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "weight ", weights[place], " of node ", UserIdText(*router_, type_, nodes_[place]), " ", of,
        ": negatives are drawn by finite weights of 0 or more"));
  }
  if (SetChances(weights)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("no weight ", of, " is above 0, so negatives cannot be drawn by them"));
}

bool CandidateNodes::SetChances(absl::Span<const double> weights) {
  const auto above_0 = [](double weight) { return weight > 0; };
  if (std::none_of(weights.begin(), weights.end(), above_0)) return false;
  const int shift = UnitShift(weights);
  uint64_t sum = 0;
  sums_.reserve(weights.size());
  for (const double weight : weights) {
    const double units = std::round(std::ldexp(weight, shift));
    if (weight > 0) sum += std::max<uint64_t>(1, static_cast<uint64_t>(units));
    sums_.push_back(sum);
  }
  return true;
}

int64_t CandidateNodes::Draw(NodeDraws* draws) const {
  if (sums_.empty()) return static_cast<int64_t>(draws->Below(static_cast<uint64_t>(size_)));
  return std::upper_bound(sums_.begin(), sums_.end(), draws->Below(sums_.back())) - sums_.begin();
}

double CandidateNodes::chance(int64_t place) const {
  if (sums_.empty()) return 1;
  return static_cast<double>(sums_[place] - (place == 0 ? 0 : sums_[place - 1]));
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

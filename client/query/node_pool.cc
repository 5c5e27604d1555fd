#include "client/query/node_pool.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/query/step_rows.h"
#include "client/shards/found_nodes.h"
#include "client/shards/lookups.h"
#include "proto/common/random.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr size_t kMostNamed = 10;

absl::StatusOr<std::vector<int64_t>> Resolve(const ShardRouter& router, NodeTypeId type,
                                             const std::vector<std::string>& ids,
                                             const CallContext& context) {
  const NodeTypeSpec& spec = router.schema().node_types[type.value];
  if (spec.id_kind == IdKind::kString) return ResolveNames(router, type, ids);
  std::vector<int64_t> numbers(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (absl::SimpleAtoi(ids[i], &numbers[i])) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("id `", ids[i], "`, but ids of ", spec.name, " are integers"));
  }
  return ResolveIntegers(router, type, numbers, context);
}

absl::StatusOr<std::vector<int64_t>> NodesOfIds(const ShardRouter& router, const ResolvedStep& step,
                                                const CallContext& context) {
  const std::vector<std::string>& ids = step.step.ids;
  VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> nodes,
                            Resolve(router, step.node_type, ids, context));
  std::string missing;
  size_t num_missing = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] >= 0 || ++num_missing > kMostNamed) continue;
    absl::StrAppend(&missing, missing.empty() ? "" : ", ", ids[i]);
  }
  if (num_missing == 0) return nodes;
  return absl::NotFoundError(absl::StrCat(
      "step ", step.step.name, ": no ", router.schema().node_types[step.node_type.value].name,
      " has the id ", missing, num_missing > kMostNamed ? ", ..." : ""));
}

// Of the ids given, those that meet the condition.
absl::StatusOr<std::vector<int64_t>> ListedOfIds(const ShardRouter& router,
                                                 const ResolvedStep& step,
                                                 const CallContext& context) {
  VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> nodes, NodesOfIds(router, step, context));
  if (step.nodes_where == nullptr) return nodes;
  VICINITY_ASSIGN_OR_RETURN(
      const std::vector<uint8_t> meet,
      MeetCondition(router, step.node_type, *step.nodes_where, nodes, context));
  size_t kept = 0;
  for (size_t i = 0; i < meet.size(); ++i) {
    if (meet[i] != 0) nodes[kept++] = nodes[i];
  }
  nodes.resize(kept);
  return nodes;
}

// All that the step may take or draw: few are looked at here, of all the servers find those.
absl::StatusOr<FoundNodes> Listed(const ShardRouter& router, const ResolvedStep& step,
                                  const CallContext& context) {
  const NodeTypeId type = step.node_type;
  FoundNodes listed;
  if (!step.step.ids.empty()) {
    VICINITY_ASSIGN_OR_RETURN(listed.nodes, ListedOfIds(router, step, context));
  } else if (step.nodes_where == nullptr) {
    VICINITY_ASSIGN_OR_RETURN(listed.nodes, NodesOfSplit(router, type, step.step.split, {}));
  } else {
    return FindNodes(router, type, step.step.split, *step.nodes_where, context);
  }
  return listed;
}

// Chances of all nodes of the type, by place: that of the column, or 1, and 0 of what is not
// listed.
absl::StatusOr<std::vector<double>> WeightsOf(const ShardRouter& router, const ResolvedStep& step,
                                              const std::vector<int64_t>& listed) {
  const absl::flat_hash_set<int64_t> kept(listed.begin(), listed.end());
  VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> all,
                            NodesOfSplit(router, step.node_type, Split::kNone, {}));
  const NodeTypeSpec& spec = router.schema().node_types[step.node_type.value];
  VICINITY_ASSIGN_OR_RETURN(const int32_t column, FindNodeColumn(spec, step.step.by));
  VICINITY_ASSIGN_OR_RETURN(std::vector<double> weights,
                            NumberColumn(router, step.node_type, column, all));
  for (size_t place = 0; place < all.size(); ++place) {
    if (!kept.contains(all[place])) weights[place] = 0;
  }
  return weights;
}

}  // namespace

absl::StatusOr<NodePool> NodePool::Make(const ShardRouter& router, const ResolvedStep& step,
                                        const CallContext& context) {
  NodePool pool;
  pool.count_ = step.step.count;
  const bool drawn = pool.count_ != kAllNeighbors;
  const bool of_all = step.step.split == Split::kNone && step.nodes_where == nullptr;
  if (drawn && of_all && router.book().num_nodes(step.node_type) > 0) {
    VICINITY_ASSIGN_OR_RETURN(pool.candidates_,
                              step.weighted()
                                  ? CandidateNodes::ByColumn(router, step.node_type, step.step.by)
                                  : CandidateNodes::Uniform(router, step.node_type));
    return pool;
  }
  VICINITY_ASSIGN_OR_RETURN(FoundNodes listed, Listed(router, step, context));
  pool.listed_ = std::move(listed.nodes);
  pool.num_read_ = listed.num_read;
  if (!drawn || !step.weighted() || pool.listed_.empty()) return pool;
  VICINITY_ASSIGN_OR_RETURN(const std::vector<double> weights,
                            WeightsOf(router, step, pool.listed_));
  const auto above_0 = [](double weight) { return weight > 0; };
  if (std::none_of(weights.begin(), weights.end(), above_0)) {
    pool.listed_.clear();
    return pool;
  }
  VICINITY_ASSIGN_OR_RETURN(pool.candidates_,
                            CandidateNodes::ByWeights(router, step.node_type, weights));
  return pool;
}

int64_t NodePool::size() const {
  if (count_ == kAllNeighbors) return static_cast<int64_t>(listed_.size());
  return candidates_.has_value() || !listed_.empty() ? count_ : 0;
}

absl::StatusOr<std::vector<int64_t>> NodePool::Nodes(uint64_t stream,
                                                     const CallContext& context) const {
  if (count_ == kAllNeighbors) return listed_;
  std::vector<int64_t> drawn;
  for (int64_t i = 0; i < size(); ++i) {
    NodeDraws draws(stream, static_cast<uint64_t>(i));
    drawn.push_back(candidates_.has_value() ? candidates_->Draw(&draws)
                                            : listed_[draws.Below(listed_.size())]);
  }
  if (!candidates_.has_value()) return drawn;
  return candidates_->NodesAt(drawn, context);
}

}  // namespace vicinity

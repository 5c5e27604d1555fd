#include "sampler/graph_builder.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/one_hop.h"
#include "sampler/sampled_graph.h"

namespace vicinity {
namespace {

constexpr int64_t kMaxPositions = std::numeric_limits<int32_t>::max();

// Where the nodes begin that a hop expands.
int64_t FrontierBegin(const SampledNodes& nodes, Expansion expansion) {
  const size_t hops = nodes.hop_ends.size();
  if (expansion == Expansion::kAllNodes || hops < 2) return 0;
  return nodes.hop_ends[hops - 2];
}

// Of a seed with this time; no bound is beyond what an int64 can say.
TimeBounds BoundsOf(int64_t time, int64_t window) {
  TimeBounds bounds;
  bounds.until = time;
  if (window >= 0 && time >= std::numeric_limits<int64_t>::min() + window) {
    bounds.from = time - window;
  }
  return bounds;
}

}  // namespace

GraphBuilder::GraphBuilder(const Schema& schema, const Book& book) : schema_(schema), book_(book) {
  for (int32_t type = 0; type < book.num_node_types(); ++type) {
    indexes_.emplace_back(/*wide=*/book.id_limit({type}) > int64_t{UINT32_MAX});
    tree_indexes_.emplace_back(/*wide=*/true);
  }
  graph_.nodes.resize(indexes_.size());
  last_num_nodes_.resize(indexes_.size());
  tree_nodes_.resize(indexes_.size());
  node_branches_.resize(indexes_.size());
  node_times_.resize(indexes_.size());
}

absl::Status CheckNeighbors(const Schema& schema, const Book& book, EdgeTypeId edge_type,
                            size_t num_targets, const Neighbors& neighbors) {
  const EdgeTypeSpec& spec = schema.edge_types[edge_type.value];
  const size_t num_sources = neighbors.sources.size();
  const uint64_t counted =
      std::accumulate(neighbors.counts.begin(), neighbors.counts.end(), uint64_t{0});
  if (neighbors.counts.size() != num_targets || counted != num_sources ||
      (!neighbors.edge_ids.empty() && neighbors.edge_ids.size() != num_sources) ||
      (!neighbors.edge_positions.empty() && neighbors.edge_positions.size() != num_sources) ||
      (!neighbors.edge_times.empty() && neighbors.edge_times.size() != num_sources)) {
    return absl::InvalidArgumentError(absl::StrCat(
        schema.EdgeTypeName(edge_type.value), ": ", neighbors.counts.size(), " counts for ",
        num_targets, " targets, ", num_sources, " neighbours, ", neighbors.edge_ids.size(),
        " edge ids, ", neighbors.edge_positions.size(), " edge positions and ",
        neighbors.edge_times.size(), " times for counts that sum to ", counted));
  }
  const int64_t num_nodes = book.id_limit({spec.source_type});
  uint64_t largest = 0;  // negative ids are larger than any
  for (const int64_t source : neighbors.sources) {
    largest = std::max(largest, static_cast<uint64_t>(source));
  }
  if (num_sources == 0 || largest < static_cast<uint64_t>(num_nodes)) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(schema.EdgeTypeName(edge_type.value), ": neighbour ",
                                          static_cast<int64_t>(largest), " of ", num_nodes,
                                          " nodes"));
}

int64_t CountSeeds(absl::Span<const TypedSeeds> lists) {
  int64_t all = 0;
  for (const TypedSeeds& list : lists) all += static_cast<int64_t>(list.ids.size());
  return all;
}

absl::Status GraphBuilder::Start(Expansion expansion, absl::Span<const TypedSeeds> seeds,
                                 const TreeRules& trees) {
  Take();  // drops what was begun
  for (size_t type = 0; type < indexes_.size(); ++type) {
    graph_.nodes[type].ids.reserve(last_num_nodes_[type]);
  }
  expansion_ = expansion;
  rules_ = trees;
  VICINITY_RETURN_IF_ERROR(CheckTrees(CountSeeds(seeds)));
  for (const TypedSeeds& list : seeds) {
    VICINITY_RETURN_IF_ERROR(CheckSeeds(list));
    VICINITY_RETURN_IF_ERROR(NumberSeeds(list));
  }
  for (SampledNodes& nodes : graph_.nodes) nodes.hop_ends.push_back(nodes.ids.size());
  return absl::OkStatus();
}

absl::Status GraphBuilder::NumberSeeds(const TypedSeeds& seeds) {
  SampledSeeds& sampled = graph_.seeds.emplace_back();
  sampled.node_type = seeds.type.value;
  if (!rules_.disjoint) return Number(seeds.type, seeds.ids, &sampled.positions);
  std::vector<uint32_t> branches;
  for (size_t i = 0; i < seeds.ids.size(); ++i) {
    const auto tree = static_cast<uint32_t>(branches_.size());
    Branch& branch = branches_.emplace_back();
    branch.tree = tree;
    if (rules_.by_time) branch.times = BoundsOf(seeds.times[i], rules_.window);
    if (rules_.follow_path) branch_of_[{tree, branch.times.until}] = tree;
    branches.push_back(tree);
  }
  return NumberInTrees(seeds.type, seeds.ids, branches, &sampled.positions);
}

absl::Status GraphBuilder::CheckSeeds(const TypedSeeds& seeds) const {
  const NodeTypeId type = seeds.type;
  if (type.value < 0 || type.value >= book_.num_node_types()) {
    return absl::InvalidArgumentError(absl::StrCat("there is no node type ", type.value));
  }
  if (rules_.by_time && seeds.times.size() != seeds.ids.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(seeds.times.size(), " times for ", seeds.ids.size(), " seeds"));
  }
  for (size_t i = 0; i < seeds.ids.size(); ++i) {
    if (book_.Contains(type, {seeds.ids[i]})) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("seed ", i, " is node ", seeds.ids[i], " of type \"",
                     schema_.node_types[type.value].name, "\", which has ", book_.num_nodes(type)));
  }
  return absl::OkStatus();
}

absl::Status GraphBuilder::CheckTrees(int64_t num_trees) const {
  for (int32_t type = 0; rules_.disjoint && type < book_.num_node_types(); ++type) {
    const int64_t most = std::numeric_limits<int64_t>::max();
    if (num_trees <= most / std::max<int64_t>(book_.id_limit({type}), 1)) continue;
    return absl::ResourceExhaustedError(absl::StrCat(num_trees, " disjoint trees over ",
                                                     book_.num_nodes({type}), " nodes of type \"",
                                                     schema_.node_types[type].name, "\""));
  }
  return absl::OkStatus();
}

absl::Span<const int64_t> GraphBuilder::Frontier(NodeTypeId type) const {
  const SampledNodes& nodes = graph_.nodes[type.value];
  const int64_t begin = FrontierBegin(nodes, expansion_);
  return absl::MakeConstSpan(nodes.ids).subspan(begin, nodes.hop_ends.back() - begin);
}

absl::Span<const uint32_t> GraphBuilder::FrontierTrees(NodeTypeId type) const {
  if (!rules_.disjoint) return {};
  const SampledNodes& nodes = graph_.nodes[type.value];
  const int64_t begin = FrontierBegin(nodes, expansion_);
  return absl::MakeConstSpan(rules_.follow_path ? node_branches_[type.value] : nodes.trees)
      .subspan(begin, nodes.hop_ends.back() - begin);
}

absl::Span<const TimeBounds> GraphBuilder::FrontierTimes(NodeTypeId type) const {
  if (!rules_.by_time) return {};
  const SampledNodes& nodes = graph_.nodes[type.value];
  const int64_t begin = FrontierBegin(nodes, expansion_);
  return absl::MakeConstSpan(node_times_[type.value]).subspan(begin, nodes.hop_ends.back() - begin);
}

std::vector<TimeBounds> GraphBuilder::TreeTimes() const {
  std::vector<TimeBounds> times;
  if (!rules_.by_time) return times;
  for (int64_t tree = 0; tree < graph_.num_seeds(); ++tree) times.push_back(branches_[tree].times);
  return times;
}

absl::Status GraphBuilder::CheckRelation(EdgeTypeId edge_type, const Neighbors& neighbors) const {
  if (edge_type.value < 0 || edge_type.value >= static_cast<int32_t>(schema_.edge_types.size()) ||
      (!blocks_.empty() && edge_type.value <= blocks_.back().edge_type)) {
    return absl::InvalidArgumentError(
        absl::StrCat("edge type ", edge_type.value, " does not exist or came too late"));
  }
  const NodeTypeId target{schema_.edge_types[edge_type.value].target_type};
  return CheckNeighbors(schema_, book_, edge_type, Frontier(target).size(), neighbors);
}

absl::Status GraphBuilder::Number(NodeTypeId type, absl::Span<const int64_t> ids,
                                  std::vector<int32_t>* positions) {
  VICINITY_RETURN_IF_ERROR(CheckRoom(type, ids.size()));
  positions->resize(ids.size());
  indexes_[type.value].FindOrAdd(ids, &graph_.nodes[type.value].ids, positions->data());
  return absl::OkStatus();
}

uint32_t GraphBuilder::FindOrAddBranch(uint32_t tree, int64_t until) {
  const auto next = static_cast<uint32_t>(branches_.size());
  const auto [found, added] = branch_of_.try_emplace({tree, until}, next);
  if (added) branches_.push_back({tree, {branches_[tree].times.from, until}});
  return found->second;
}

std::vector<uint32_t> GraphBuilder::BranchesOf(NodeTypeId target_type, const Neighbors& neighbors) {
  const absl::Span<const uint32_t> of_targets = FrontierTrees(target_type);
  std::vector<uint32_t> branches;
  branches.reserve(neighbors.sources.size());
  for (size_t i = 0; i < of_targets.size(); ++i) {
    branches.insert(branches.end(), neighbors.counts[i], of_targets[i]);
  }
  if (!rules_.follow_path || neighbors.edge_times.empty()) return branches;
  for (size_t k = 0; k < branches.size(); ++k) {
    branches[k] = FindOrAddBranch(branches_[branches[k]].tree, neighbors.edge_times[k]);
  }
  return branches;
}

absl::Status GraphBuilder::NumberInTrees(NodeTypeId type, absl::Span<const int64_t> ids,
                                         absl::Span<const uint32_t> branches,
                                         std::vector<int32_t>* positions) {
  VICINITY_RETURN_IF_ERROR(CheckRoom(type, ids.size()));
  const int64_t num_nodes = book_.id_limit(type);
  std::vector<int64_t> tree_nodes(ids.begin(), ids.end());
  for (size_t i = 0; i < ids.size(); ++i) tree_nodes[i] += num_nodes * branches[i];
  std::vector<int64_t>& known = tree_nodes_[type.value];
  positions->resize(ids.size());
  tree_indexes_[type.value].FindOrAdd(tree_nodes, &known, positions->data());
  SampledNodes& nodes = graph_.nodes[type.value];
  for (size_t i = nodes.ids.size(); i < known.size(); ++i) {
    nodes.ids.push_back(known[i] % num_nodes);
    const auto branch = static_cast<uint32_t>(known[i] / num_nodes);
    nodes.trees.push_back(branches_[branch].tree);
    if (rules_.follow_path) node_branches_[type.value].push_back(branch);
    if (rules_.by_time) node_times_[type.value].push_back(branches_[branch].times);
  }
  return absl::OkStatus();
}

// Counting every id as new is crude, and enough: no batch that fits memory comes near the limit.
absl::Status GraphBuilder::CheckRoom(NodeTypeId type, size_t num_more) const {
  const size_t mentions = graph_.nodes[type.value].ids.size() + num_more;
  if (mentions <= static_cast<size_t>(kMaxPositions)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("a minibatch with ", mentions, " mentions of nodes of type \"",
                   schema_.node_types[type.value].name, "\"; positions go to ", kMaxPositions));
}

absl::Status GraphBuilder::AddRelation(EdgeTypeId edge_type, const Neighbors& neighbors) {
  VICINITY_RETURN_IF_ERROR(CheckRelation(edge_type, neighbors));
  const EdgeTypeSpec& spec = schema_.edge_types[edge_type.value];
  Block block;
  block.edge_type = edge_type.value;
  block.first_target = FrontierBegin(graph_.nodes[spec.target_type], expansion_);
  block.offsets.resize(neighbors.counts.size() + 1);
  int64_t num_before = 0;
  for (size_t i = 0; i < neighbors.counts.size(); ++i) {
    num_before += neighbors.counts[i];
    block.offsets[i + 1] = num_before;
  }
  if (rules_.disjoint) {
    const std::vector<uint32_t> branches = BranchesOf({spec.target_type}, neighbors);
    VICINITY_RETURN_IF_ERROR(CheckTrees(static_cast<int64_t>(branches_.size())));
    VICINITY_RETURN_IF_ERROR(
        NumberInTrees({spec.source_type}, neighbors.sources, branches, &block.sources));
  } else {
    VICINITY_RETURN_IF_ERROR(Number({spec.source_type}, neighbors.sources, &block.sources));
  }
  block.edge_ids = neighbors.edge_ids;
  block.edge_positions = neighbors.edge_positions;
  blocks_.push_back(std::move(block));
  return absl::OkStatus();
}

void GraphBuilder::FinishHop() {
  for (SampledNodes& nodes : graph_.nodes) nodes.hop_ends.push_back(nodes.ids.size());
  graph_.hops.push_back(std::move(blocks_));
  blocks_.clear();
}

SampledGraph GraphBuilder::Take() {
  for (size_t type = 0; type < indexes_.size(); ++type) {
    const size_t num_nodes = graph_.nodes[type].ids.size();
    if (num_nodes == 0) continue;  // nothing was begun, or the type was not met
    indexes_[type].Clear(num_nodes);
    if (!tree_nodes_[type].empty()) tree_indexes_[type].Clear(num_nodes);
    tree_nodes_[type].clear();
    node_branches_[type].clear();
    node_times_[type].clear();
    last_num_nodes_[type] = num_nodes;
  }
  blocks_.clear();
  branches_.clear();
  branch_of_.clear();
  SampledGraph graph = std::move(graph_);
  graph_ = SampledGraph();
  graph_.nodes.resize(indexes_.size());
  return graph;
}

}  // namespace vicinity

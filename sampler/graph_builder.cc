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

}  // namespace

GraphBuilder::GraphBuilder(const Schema& schema, const Book& book) : schema_(schema), book_(book) {
  for (int32_t type = 0; type < book.num_node_types(); ++type) {
    indexes_.emplace_back(/*wide=*/book.num_nodes({type}) > int64_t{UINT32_MAX});
    tree_indexes_.emplace_back(/*wide=*/true);
  }
  graph_.nodes.resize(indexes_.size());
  last_num_nodes_.resize(indexes_.size());
  tree_nodes_.resize(indexes_.size());
}

absl::Status CheckNeighbors(const Schema& schema, const Book& book, EdgeTypeId edge_type,
                            size_t num_targets, const Neighbors& neighbors) {
  const EdgeTypeSpec& spec = schema.edge_types[edge_type.value];
  const size_t num_sources = neighbors.sources.size();
  const uint64_t counted =
      std::accumulate(neighbors.counts.begin(), neighbors.counts.end(), uint64_t{0});
  if (neighbors.counts.size() != num_targets || counted != num_sources ||
      (!neighbors.edge_ids.empty() && neighbors.edge_ids.size() != num_sources) ||
      (!neighbors.edge_positions.empty() && neighbors.edge_positions.size() != num_sources)) {
    return absl::InvalidArgumentError(
        absl::StrCat(schema.EdgeTypeName(edge_type.value), ": ", neighbors.counts.size(),
                     " counts for ", num_targets, " targets, ", num_sources, " neighbours, ",
                     neighbors.edge_ids.size(), " edge ids and ", neighbors.edge_positions.size(),
                     " edge positions for counts that sum to ", counted));
  }
  const int64_t num_nodes = book.num_nodes({spec.source_type});
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
                                 bool disjoint) {
  Take();  // drops what was begun
  for (size_t type = 0; type < indexes_.size(); ++type) {
    graph_.nodes[type].ids.reserve(last_num_nodes_[type]);
  }
  expansion_ = expansion;
  disjoint_ = disjoint;
  VICINITY_RETURN_IF_ERROR(CheckTrees(CountSeeds(seeds)));
  uint32_t num_trees = 0;
  for (const TypedSeeds& list : seeds) {
    VICINITY_RETURN_IF_ERROR(CheckSeeds(list));
    VICINITY_RETURN_IF_ERROR(NumberSeeds(list, num_trees));
    num_trees += static_cast<uint32_t>(list.ids.size());
  }
  for (SampledNodes& nodes : graph_.nodes) nodes.hop_ends.push_back(nodes.ids.size());
  return absl::OkStatus();
}

absl::Status GraphBuilder::NumberSeeds(const TypedSeeds& seeds, uint32_t first_tree) {
  SampledSeeds& sampled = graph_.seeds.emplace_back();
  sampled.node_type = seeds.type.value;
  if (!disjoint_) return Number(seeds.type, seeds.ids, &sampled.positions);
  std::vector<uint32_t> trees(seeds.ids.size());
  std::iota(trees.begin(), trees.end(), first_tree);
  return NumberInTrees(seeds.type, seeds.ids, trees, std::vector<uint32_t>(trees.size(), 1),
                       &sampled.positions);
}

absl::Status GraphBuilder::CheckSeeds(const TypedSeeds& seeds) const {
  const NodeTypeId type = seeds.type;
  if (type.value < 0 || type.value >= book_.num_node_types()) {
    return absl::InvalidArgumentError(absl::StrCat("there is no node type ", type.value));
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
  for (int32_t type = 0; disjoint_ && type < book_.num_node_types(); ++type) {
    const int64_t most = std::numeric_limits<int64_t>::max();
    if (num_trees <= most / std::max<int64_t>(book_.num_nodes({type}), 1)) continue;
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
  if (!disjoint_) return {};
  const SampledNodes& nodes = graph_.nodes[type.value];
  const int64_t begin = FrontierBegin(nodes, expansion_);
  return absl::MakeConstSpan(nodes.trees).subspan(begin, nodes.hop_ends.back() - begin);
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

absl::Status GraphBuilder::NumberInTrees(NodeTypeId type, absl::Span<const int64_t> ids,
                                         absl::Span<const uint32_t> trees,
                                         absl::Span<const uint32_t> counts,
                                         std::vector<int32_t>* positions) {
  VICINITY_RETURN_IF_ERROR(CheckRoom(type, ids.size()));
  const int64_t num_nodes = book_.num_nodes(type);
  std::vector<int64_t> tree_nodes(ids.begin(), ids.end());
  auto next = tree_nodes.begin();
  for (size_t i = 0; i < trees.size(); ++i) {
    for (const auto end = next + counts[i]; next != end; ++next) *next += num_nodes * trees[i];
  }
  std::vector<int64_t>& known = tree_nodes_[type.value];
  positions->resize(ids.size());
  tree_indexes_[type.value].FindOrAdd(tree_nodes, &known, positions->data());
  SampledNodes& nodes = graph_.nodes[type.value];
  for (size_t i = nodes.ids.size(); i < known.size(); ++i) {
    nodes.ids.push_back(known[i] % num_nodes);
    nodes.trees.push_back(static_cast<uint32_t>(known[i] / num_nodes));
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
  for (size_t i = 0; i < neighbors.counts.size(); ++i) {
    block.offsets[i + 1] = block.offsets[i] + neighbors.counts[i];
  }
  VICINITY_RETURN_IF_ERROR(
      disjoint_ ? NumberInTrees({spec.source_type}, neighbors.sources,
                                FrontierTrees({spec.target_type}), neighbors.counts, &block.sources)
                : Number({spec.source_type}, neighbors.sources, &block.sources));
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
    last_num_nodes_[type] = num_nodes;
  }
  blocks_.clear();
  SampledGraph graph = std::move(graph_);
  graph_ = SampledGraph();
  graph_.nodes.resize(indexes_.size());
  return graph;
}

}  // namespace vicinity

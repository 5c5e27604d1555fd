#include "sampler/graph_builder.h"

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
#include "partition/book.h"
#include "partition/sampling_spec.h"
#include "partition/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/one_hop.h"
#include "sampler/sampled_graph.h"

namespace vicinity {
namespace {

constexpr size_t kLookupsAhead = 16;
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
  }
  graph_.nodes.resize(indexes_.size());
  last_num_nodes_.resize(indexes_.size());
}

absl::Status GraphBuilder::Start(Expansion expansion, NodeTypeId seed_type,
                                 absl::Span<const int64_t> seeds) {
  Take();  // drops what was begun
  for (size_t type = 0; type < indexes_.size(); ++type) {
    graph_.nodes[type].ids.reserve(last_num_nodes_[type]);
  }
  expansion_ = expansion;
  if (seed_type.value < 0 || seed_type.value >= book_.num_node_types()) {
    return absl::InvalidArgumentError(absl::StrCat("there is no node type ", seed_type.value));
  }
  graph_.seed_type = seed_type.value;
  for (size_t i = 0; i < seeds.size(); ++i) {
    if (book_.Contains(seed_type, {seeds[i]})) continue;
    return absl::InvalidArgumentError(absl::StrCat("seed ", i, " is node ", seeds[i], " of type \"",
                                                   schema_.node_types[seed_type.value].name,
                                                   "\", which has ", book_.num_nodes(seed_type)));
  }
  VICINITY_RETURN_IF_ERROR(Number(seed_type, seeds, &graph_.seed_positions));
  for (SampledNodes& nodes : graph_.nodes) nodes.hop_ends.push_back(nodes.ids.size());
  return absl::OkStatus();
}

absl::Span<const int64_t> GraphBuilder::Frontier(NodeTypeId type) const {
  const SampledNodes& nodes = graph_.nodes[type.value];
  const int64_t begin = FrontierBegin(nodes, expansion_);
  return absl::MakeConstSpan(nodes.ids).subspan(begin, nodes.hop_ends.back() - begin);
}

absl::Status GraphBuilder::CheckRelation(EdgeTypeId edge_type, const Neighbors& neighbors) const {
  if (edge_type.value < 0 || edge_type.value >= static_cast<int32_t>(schema_.edge_types.size()) ||
      (!blocks_.empty() && edge_type.value <= blocks_.back().edge_type)) {
    return absl::InvalidArgumentError(
        absl::StrCat("edge type ", edge_type.value, " does not exist or came too late"));
  }
  const EdgeTypeSpec& spec = schema_.edge_types[edge_type.value];
  const size_t num_targets = Frontier({spec.target_type}).size();
  const size_t num_sources = neighbors.sources.size();
  const uint64_t counted =
      std::accumulate(neighbors.counts.begin(), neighbors.counts.end(), uint64_t{0});
  if (neighbors.counts.size() != num_targets || counted != num_sources ||
      (!neighbors.edge_ids.empty() && neighbors.edge_ids.size() != num_sources)) {
    return absl::InvalidArgumentError(
        absl::StrCat(schema_.EdgeTypeName(edge_type.value), ": ", neighbors.counts.size(),
                     " counts for ", num_targets, " targets, ", num_sources, " neighbours and ",
                     neighbors.edge_ids.size(), " edge ids for counts that sum to ", counted));
  }
  const int64_t num_nodes = book_.num_nodes({spec.source_type});
  for (const int64_t source : neighbors.sources) {
    if (source >= 0 && source < num_nodes) continue;
    return absl::DataLossError(absl::StrCat(schema_.EdgeTypeName(edge_type.value), ": neighbour ",
                                            source, " of ", num_nodes, " nodes"));
  }
  return absl::OkStatus();
}

absl::Status GraphBuilder::Number(NodeTypeId type, absl::Span<const int64_t> ids,
                                  std::vector<int32_t>* positions) {
  std::vector<int64_t>& known = graph_.nodes[type.value].ids;
  NodeIndex& index = indexes_[type.value];
  // Counting every id as new is crude, and enough: no batch that fits memory comes near the limit.
  if (static_cast<int64_t>(known.size() + ids.size()) > kMaxPositions) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a minibatch with ", known.size() + ids.size(), " mentions of nodes of type \"",
        schema_.node_types[type.value].name, "\"; positions go to ", kMaxPositions));
  }
  positions->resize(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kLookupsAhead < ids.size()) index.Prefetch(ids[i + kLookupsAhead]);
    (*positions)[i] = index.FindOrAdd(ids[i], &known);
  }
  return absl::OkStatus();
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
  VICINITY_RETURN_IF_ERROR(Number({spec.source_type}, neighbors.sources, &block.sources));
  block.edge_ids = neighbors.edge_ids;
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
    last_num_nodes_[type] = num_nodes;
  }
  blocks_.clear();
  SampledGraph graph = std::move(graph_);
  graph_ = SampledGraph();
  graph_.nodes.resize(indexes_.size());
  return graph;
}

}  // namespace vicinity

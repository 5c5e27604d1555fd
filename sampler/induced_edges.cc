#include "sampler/induced_edges.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/graph_builder.h"
#include "sampler/node_index.h"
#include "sampler/one_hop.h"

namespace vicinity {
namespace {

// A node, as it is in one tree; where trees are not disjoint all are in tree 0.
struct Copy {
  uint32_t tree;
  int32_t position;  // in the batch's list of nodes
};

bool ComesBefore(const Copy& a, const Copy& b) { return a.tree < b.tree; }

// The nodes of one type, each listed once, with its copies by rising tree.
class TypeNodes {
 public:
  // `tree_times`: if there are any, each copy is asked for by itself.
  TypeNodes(const SampledNodes& nodes, bool wide, absl::Span<const TimeBounds> tree_times)
      : index_(wide) {
    std::vector<int32_t> node_of(nodes.ids.size());
    index_.FindOrAdd(nodes.ids, &distinct_, node_of.data());
    begins_.resize(distinct_.size() + 1);
    for (const int32_t node : node_of) ++begins_[node + 1];
    for (size_t i = 0; i < distinct_.size(); ++i) begins_[i + 1] += begins_[i];
    std::vector<int64_t> next(begins_.begin(), begins_.end() - 1);
    copies_.resize(nodes.ids.size());
    for (size_t i = 0; i < node_of.size(); ++i) {
      copies_[next[node_of[i]]++] = {nodes.trees.empty() ? 0 : nodes.trees[i],
                                     static_cast<int32_t>(i)};
    }
    for (size_t i = 0; i < distinct_.size(); ++i) {
      std::sort(copies_.begin() + begins_[i], copies_.begin() + begins_[i + 1], ComesBefore);
    }
    if (!tree_times.empty()) AskByTree(tree_times);
  }

  // What is asked for: distinct nodes, or copies, whose trees are those of targets.
  absl::Span<const int64_t> targets() const { return trees_.empty() ? distinct_ : ids_of_copies_; }
  absl::Span<const uint32_t> trees() const { return trees_; }
  absl::Span<const TimeBounds> times() const { return times_; }
  absl::Span<const Copy> CopiesOfTarget(size_t target) const {
    if (trees_.empty()) return CopiesOf(static_cast<int32_t>(target));
    return absl::MakeConstSpan(copies_).subspan(target, 1);
  }

  // Of each id which of the distinct nodes it is, -1 for what the batch has not.
  void Find(absl::Span<const int64_t> ids, std::vector<int32_t>* nodes) const {
    nodes->resize(ids.size());
    index_.Find(ids, distinct_, nodes->data());
  }
  absl::Span<const Copy> CopiesOf(int32_t node) const {
    return absl::MakeConstSpan(copies_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }

 private:
  void AskByTree(absl::Span<const TimeBounds> tree_times) {
    for (size_t node = 0; node < distinct_.size(); ++node) {
      for (int64_t i = begins_[node]; i < begins_[node + 1]; ++i) {
        ids_of_copies_.push_back(distinct_[node]);
        trees_.push_back(copies_[i].tree);
        times_.push_back(tree_times[copies_[i].tree]);
      }
    }
  }

  NodeIndex index_;
  std::vector<int64_t> distinct_;
  std::vector<int64_t> begins_;  // of each one's copies
  std::vector<Copy> copies_;
  std::vector<int64_t> ids_of_copies_;  // of each copy, if these are asked for
  std::vector<uint32_t> trees_;
  std::vector<TimeBounds> times_;
};

// The edges of one type that are kept, as they were found; those of a target in a row.
class KeptEdges {
 public:
  // Those of neighbour k that have both ends in one tree.
  void Add(absl::Span<const Copy> targets, absl::Span<const Copy> sources, const Neighbors& answer,
           size_t k) {
    const bool fewer_sources = sources.size() < targets.size();
    for (const Copy& copy : fewer_sources ? sources : targets) {
      const absl::Span<const Copy> others = fewer_sources ? targets : sources;
      const auto other = std::lower_bound(others.begin(), others.end(), copy, ComesBefore);
      if (other == others.end() || other->tree != copy.tree) continue;
      targets_.push_back(fewer_sources ? other->position : copy.position);
      sources_.push_back(fewer_sources ? copy.position : other->position);
      if (!answer.edge_ids.empty()) edge_ids_.push_back(answer.edge_ids[k]);
      if (!answer.edge_positions.empty()) edge_positions_.push_back(answer.edge_positions[k]);
    }
  }

  // By target, of each in the order in which they were added.
  Block ToBlock(EdgeTypeId edge_type, size_t num_targets) const {
    Block block;
    block.edge_type = edge_type.value;
    block.offsets.resize(num_targets + 1);
    for (const int32_t target : targets_) ++block.offsets[target + 1];
    for (size_t i = 0; i < num_targets; ++i) block.offsets[i + 1] += block.offsets[i];
    std::vector<int64_t> next(block.offsets.begin(), block.offsets.end() - 1);
    block.sources.resize(sources_.size());
    block.edge_ids.resize(edge_ids_.size());
    block.edge_positions.resize(edge_positions_.size());
    for (size_t i = 0; i < targets_.size(); ++i) {
      const int64_t at = next[targets_[i]]++;
      block.sources[at] = sources_[i];
      if (!edge_ids_.empty()) block.edge_ids[at] = edge_ids_[i];
      if (!edge_positions_.empty()) block.edge_positions[at] = edge_positions_[i];
    }
    return block;
  }

 private:
  std::vector<int32_t> targets_;  // positions among the batch's nodes, as those of sources
  std::vector<int32_t> sources_;
  std::vector<int64_t> edge_ids_;
  std::vector<int64_t> edge_positions_;
};

// Some targets of a type that follow each other.
struct Range {
  size_t begin = 0;
  size_t end = 0;
};

class Inducer {
 public:
  Inducer(const Schema& schema, const Book& book, const InducedRequest& request,
          NeighborSource* source, const SampledGraph& graph)
      : schema_(schema), book_(book), request_(request), source_(source) {
    for (size_t type = 0; type < graph.nodes.size(); ++type) {
      const int64_t num_nodes = book.num_nodes({static_cast<int32_t>(type)});
      nodes_.emplace_back(graph.nodes[type], /*wide=*/num_nodes > int64_t{UINT32_MAX},
                          request.tree_times);
    }
    kept_.resize(schema.edge_types.size());
  }

  absl::Status Run() {
    VICINITY_RETURN_IF_ERROR(CountInEdges());
    size_t type = 0;
    size_t next = 0;
    while (true) {
      const std::vector<Range> piece = NextPiece(&type, &next);
      const std::vector<RelationRequest> relations = RelationsOf(piece);
      if (relations.empty()) return absl::OkStatus();  // nobody is left
      VICINITY_RETURN_IF_ERROR(Ask(piece, relations));
    }
  }

  std::vector<Block> Blocks(const SampledGraph& graph) const {
    std::vector<Block> blocks;
    for (size_t type = 0; type < schema_.edge_types.size(); ++type) {
      const size_t num_targets = graph.nodes[schema_.edge_types[type].target_type].ids.size();
      if (!IsFollowed(request_.spec, static_cast<int>(type)) || num_targets == 0) continue;
      blocks.push_back(kept_[type].ToBlock({static_cast<int32_t>(type)}, num_targets));
    }
    return blocks;
  }

 private:
  // What to ask of these targets; of none, or whose neighbours cannot be in the batch, nothing.
  std::vector<RelationRequest> RelationsOf(const std::vector<Range>& piece) const {
    std::vector<RelationRequest> relations;
    for (size_t type = 0; type < schema_.edge_types.size(); ++type) {
      const EdgeTypeSpec& ends = schema_.edge_types[type];
      const Range range = piece[ends.target_type];
      const size_t count = range.end - range.begin;
      if (!IsFollowed(request_.spec, static_cast<int>(type)) || count == 0) continue;
      if (nodes_[ends.source_type].targets().empty()) continue;
      const TypeNodes& nodes = nodes_[ends.target_type];
      RelationRequest& relation = relations.emplace_back();
      relation.edge_type = {static_cast<int32_t>(type)};
      relation.spec.fanout = kAllNeighbors;
      relation.spec.time_column = TimeColumnOf(schema_, request_.spec, static_cast<int>(type));
      if (!request_.conditions.empty()) relation.spec.where = request_.conditions[type];
      relation.detail = request_.detail;
      relation.targets = nodes.targets().subspan(range.begin, count);
      if (nodes.trees().empty()) continue;
      relation.trees = nodes.trees().subspan(range.begin, count);
      relation.times = nodes.times().subspan(range.begin, count);
    }
    return relations;
  }

  absl::Status CountInEdges() {
    std::vector<Range> all;
    for (const TypeNodes& nodes : nodes_) {
      all.push_back({0, nodes.targets().size()});
      in_edges_.emplace_back(nodes.targets().size());
    }
    const std::vector<RelationRequest> relations = RelationsOf(all);
    if (relations.empty()) return absl::OkStatus();
    std::vector<std::vector<int64_t>> degrees(relations.size());
    VICINITY_RETURN_IF_ERROR(source_->CountEdges(relations, absl::MakeSpan(degrees)));
    for (size_t i = 0; i < relations.size(); ++i) {
      const int32_t type = schema_.edge_types[relations[i].edge_type.value].target_type;
      if (degrees[i].size() != in_edges_[type].size()) {
        return absl::InvalidArgumentError(
            absl::StrCat(degrees[i].size(), " degrees for ", in_edges_[type].size(), " nodes"));
      }
      for (size_t k = 0; k < degrees[i].size(); ++k) in_edges_[type][k] += degrees[i][k];
    }
    return absl::OkStatus();
  }

  // As many targets as have edges_at_a_time in-edges together, at least one that has any, of one
  // type or of several that follow each other. Those without in-edges end or begin none.
  std::vector<Range> NextPiece(size_t* type, size_t* next) const {
    std::vector<Range> piece(nodes_.size());
    int64_t edges = 0;
    for (; *type < nodes_.size(); ++*type, *next = 0) {
      const std::vector<int64_t>& in_edges = in_edges_[*type];
      while (*next < in_edges.size() && in_edges[*next] == 0) ++*next;
      Range& range = piece[*type];
      for (range = {*next, *next}; *next < in_edges.size(); ++*next) {
        if (edges > 0 && in_edges[*next] > request_.edges_at_a_time - edges) return piece;
        edges += in_edges[*next];
        if (in_edges[*next] > 0) range.end = *next + 1;
      }
    }
    return piece;
  }

  absl::Status Ask(const std::vector<Range>& piece, std::vector<RelationRequest> relations) {
    std::vector<std::vector<ExcludedEdge>> excluded;
    VICINITY_RETURN_IF_ERROR(AddExcluded(request_.excluded, absl::MakeSpan(relations), &excluded));
    if (answers_.size() < relations.size()) answers_.resize(relations.size());
    const absl::Span<Neighbors> answers = absl::MakeSpan(answers_).subspan(0, relations.size());
    for (Neighbors& answer : answers) answer.Clear();
    // Nothing is drawn where all are taken, so the number of the hop is for errors alone.
    VICINITY_RETURN_IF_ERROR(source_->Sample(request_.spec.num_hops(), relations, answers));
    for (size_t i = 0; i < relations.size(); ++i) {
      VICINITY_RETURN_IF_ERROR(CheckDetail(request_.detail, answers[i]));
      VICINITY_RETURN_IF_ERROR(CheckNeighbors(schema_, book_, relations[i].edge_type,
                                              relations[i].targets.size(), answers[i]));
      const EdgeTypeSpec& ends = schema_.edge_types[relations[i].edge_type.value];
      Keep(relations[i].edge_type, piece[ends.target_type].begin, answers[i]);
    }
    return absl::OkStatus();
  }

  // Of an answer for the targets from `first` on.
  void Keep(EdgeTypeId edge_type, size_t first, const Neighbors& answer) {
    const EdgeTypeSpec& ends = schema_.edge_types[edge_type.value];
    const TypeNodes& targets = nodes_[ends.target_type];
    const TypeNodes& sources = nodes_[ends.source_type];
    sources.Find(answer.sources, &found_);
    size_t k = 0;
    for (size_t i = 0; i < answer.counts.size(); ++i) {
      const absl::Span<const Copy> copies = targets.CopiesOfTarget(first + i);
      for (const size_t end = k + answer.counts[i]; k < end; ++k) {
        if (found_[k] < 0) continue;
        kept_[edge_type.value].Add(copies, sources.CopiesOf(found_[k]), answer, k);
      }
    }
  }

  const Schema& schema_;
  const Book& book_;
  const InducedRequest& request_;
  NeighborSource* const source_;
  std::vector<TypeNodes> nodes_;                // by node type
  std::vector<std::vector<int64_t>> in_edges_;  // by node type, of each target, of all edge types
  std::vector<KeptEdges> kept_;                 // by edge type
  std::vector<Neighbors> answers_;
  std::vector<int32_t> found_;
};

}  // namespace

absl::Status InduceEdges(const Schema& schema, const Book& book, const InducedRequest& request,
                         NeighborSource* source, SampledGraph* graph) {
  Inducer inducer(schema, book, request, source, *graph);
  VICINITY_RETURN_IF_ERROR(inducer.Run());
  graph->hops.clear();
  graph->hops.push_back(inducer.Blocks(*graph));
  for (SampledNodes& nodes : graph->nodes) {
    nodes.hop_ends = {nodes.hop_ends.front(), static_cast<int64_t>(nodes.ids.size())};
  }
  return absl::OkStatus();
}

}  // namespace vicinity

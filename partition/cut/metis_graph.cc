#include "partition/cut/metis_graph.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/cut/node_facts.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"
#include "proto/common/random.h"

namespace vicinity {
namespace {

constexpr int64_t kMetisMax = std::numeric_limits<int32_t>::max();
constexpr int64_t kSampledEdges = 4096;
constexpr int64_t kProgressStep = 1 << 16;  // targets between two signs of life

// Where each type begins in the numbering of all nodes.
std::vector<int64_t> TypeBegins(const Dataset& dataset) {
  std::vector<int64_t> begins = {0};
  for (int32_t t = 0; t < dataset.book().num_node_types(); ++t) {
    begins.push_back(begins.back() + dataset.book().num_nodes(NodeTypeId{t}));
  }
  return begins;
}

// Calls visit(target, source) for every edge but self-loops; `done` counts edges seen for the
// progress.
template <typename Visit>
void ForEachEdge(const Dataset& dataset, int64_t done, Progress* progress, Visit visit) {
  const std::vector<int64_t> begins = TypeBegins(dataset);
  const Schema& schema = dataset.schema();
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (int e = 0; e < static_cast<int>(schema.edge_types.size()); ++e) {
      const EdgeTypeSpec& type = schema.edge_types[e];
      const BaseLists edges(*shard, EdgeTypeId{e});
      const int64_t first_source = begins[type.source_type];
      const int64_t first_target =
          begins[type.target_type] +
          dataset.book().First(NodeTypeId{type.target_type}, shard->id()).value;
      for (int64_t row = 0; row < edges.num_targets(); ++row) {
        const int64_t begin = edges.begin(row), end = begin + edges.degree(row);
        for (int64_t i = begin; i < end; ++i) {
          const int64_t source = first_source + edges.source(i);
          if (source != first_target + row) visit(first_target + row, source);
        }
        if (row % kProgressStep == 0) progress->Update(done + begin);
      }
      done += edges.num_edges();
    }
  }
}

void FillWeights(const NodeWeights& weights, const MetisJobOutput& job) {
  int64_t next = 0;
  for (int64_t node = 0; node < weights.num_nodes(); ++node) {
    for (const Constraint constraint : weights.present()) {
      job.weights[next++] = static_cast<int32_t>(weights.weight(node, constraint));
    }
  }
}

// Sorts every list and drops its doubles, closing the gaps; in place, as lists only move forward.
void DropDuplicates(const MetisJobOutput& job) {
  int32_t* const adjacency = job.adjacency.data();
  int32_t* end = adjacency;
  int64_t begin = 0;
  for (int64_t node = 0; node < job.header->num_nodes; ++node) {
    int32_t* const list = adjacency + begin;
    int32_t* const list_end = adjacency + job.offsets[node + 1];
    begin = job.offsets[node + 1];
    std::sort(list, list_end);
    end = std::copy(list, std::unique(list, list_end), end);
    job.offsets[node + 1] = static_cast<int32_t>(end - adjacency);
  }
}

// A node of any type.
struct Node {
  NodeTypeId type;
  int64_t id;

  bool operator==(const Node& other) const { return type == other.type && id == other.id; }
};

// How many edges lead from `source` to `target`, over all edge types.
int64_t CountEdges(const Dataset& dataset, Node source, Node target) {
  const Schema& schema = dataset.schema();
  const Shard& shard = *dataset.shard(dataset.book().OwnerOf(target.type, GlobalNode{target.id}));
  const int64_t row = dataset.book().RowOf(target.type, GlobalNode{target.id}).value;
  int64_t count = 0;
  for (int e = 0; e < static_cast<int>(schema.edge_types.size()); ++e) {
    const EdgeTypeSpec& type = schema.edge_types[e];
    if (type.source_type != source.type.value || type.target_type != target.type.value) continue;
    const BaseLists edges(shard, EdgeTypeId{e});
    for (int64_t i = edges.begin(row); i < edges.begin(row) + edges.degree(row); ++i) {
      if (edges.source(i) == source.id) ++count;
    }
  }
  return count;
}

int64_t CountEitherWay(const Dataset& dataset, Node a, Node b) {
  return CountEdges(dataset, a, b) + CountEdges(dataset, b, a);
}

// Some edges, evenly over all edge types: calls visit(source, target) for each. How many edges each
// of them stands for.
template <typename Visit>
int64_t ForSomeEdges(const Dataset& dataset, Visit visit) {
  const int64_t stride = std::max<int64_t>(NumEdges(dataset) / kSampledEdges, 1);
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (int e = 0; e < static_cast<int>(dataset.schema().edge_types.size()); ++e) {
      const EdgeTypeSpec& type = dataset.schema().edge_types[e];
      const NodeTypeId target_type{type.target_type};
      const BaseLists edges(*shard, EdgeTypeId{e});
      // From the middle of each stride, so that no end of the lists is favoured.
      for (int64_t i = stride / 2; i < edges.num_edges(); i += stride) {
        const int64_t first_target = dataset.book().First(target_type, shard->id()).value;
        visit(Node{NodeTypeId{type.source_type}, edges.source(i)},
              Node{target_type, first_target + edges.TargetOf(i)});
      }
    }
  }
  return stride;
}

// A neighbour by an in-edge of any type, at random; the node itself where it has none.
Node DrawPartner(const Dataset& dataset, Node node, NodeDraws* draws) {
  const Schema& schema = dataset.schema();
  const Shard& shard = *dataset.shard(dataset.book().OwnerOf(node.type, GlobalNode{node.id}));
  const int64_t row = dataset.book().RowOf(node.type, GlobalNode{node.id}).value;
  uint64_t degree = 0;
  Node partner = node;
  for (int e = 0; e < static_cast<int>(schema.edge_types.size()); ++e) {
    if (schema.edge_types[e].target_type != node.type.value) continue;
    const BaseLists edges(shard, EdgeTypeId{e});
    const auto of_type = static_cast<uint64_t>(edges.degree(row));
    degree += of_type;
    if (of_type == 0 || draws->Below(degree) >= of_type) continue;
    const int64_t i = edges.begin(row) + static_cast<int64_t>(draws->Below(of_type));
    partner = {NodeTypeId{schema.edge_types[e].source_type}, edges.source(i)};
  }
  return partner;
}

}  // namespace

std::string_view ConstraintName(Constraint constraint) {
  switch (constraint) {
    case Constraint::kTrain:
      return "train nodes";
    case Constraint::kValidation:
      return "validation nodes";
    case Constraint::kOther:
      return "other nodes";
    case Constraint::kInEdges:
      break;
  }
  return "in-edges";
}

NodeWeights::NodeWeights(const Dataset& dataset) {
  roles_.reserve(NumNodes(dataset));
  in_degrees_.reserve(NumNodes(dataset));
  for (int32_t t = 0; t < dataset.book().num_node_types(); ++t) {
    const std::vector<Split> splits = ReadSplits(dataset, NodeTypeId{t});
    const std::vector<int64_t> degrees = InDegrees(dataset, NodeTypeId{t});
    for (size_t node = 0; node < degrees.size(); ++node) {
      const Split split = splits.empty() ? Split::kNone : splits[node];
      roles_.push_back(split == Split::kTrain        ? Constraint::kTrain
                       : split == Split::kValidation ? Constraint::kValidation
                                                     : Constraint::kOther);
      in_degrees_.push_back(degrees[node]);
      ++totals_[static_cast<int>(roles_.back())];
      totals_[static_cast<int>(Constraint::kInEdges)] += degrees[node];
    }
  }
  for (const Constraint constraint : kAllConstraints) {
    if (total(constraint) > 0) present_.push_back(constraint);
  }
}

absl::Status CheckMetisLimits(int64_t num_nodes, int64_t num_edges) {
  // METIS also indexes its array of weights, one a node and constraint, in 32 bits.
  const int64_t most_nodes = kMetisMax / kMaxMetisConstraints - 1;
  if (num_nodes <= most_nodes && num_edges <= kMetisMax / 2) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "METIS has 32-bit indices and takes at most ", most_nodes, " nodes and ", kMetisMax / 2,
      " edges; this graph has ", num_nodes, " nodes and ", num_edges,
      " edges. The assigners hash and range take a graph of any size, file takes your own cut"));
}

int64_t MetisAdjacencyCapacity(int64_t num_edges) { return 2 * num_edges; }

int64_t EstimateMetisAdjacency(const Dataset& dataset) {
  double shares = 0;  // each edge's in its undirected edge: 1 over how often that is there
  const int64_t stride = ForSomeEdges(dataset, [&](Node source, Node target) {
    if (source == target) return;
    shares += 1.0 / static_cast<double>(CountEitherWay(dataset, source, target));
  });
  return std::llround(2 * shares * static_cast<double>(stride));
}

// Edges between the same two pairs become one. A node that is drawn as a partner and has drawn
// another stays alone: no node has two.
double EstimateCoarseShare(const Dataset& dataset) {
  NodeDraws draws(/*stream=*/0, /*node_key=*/0);
  double before = 0;
  double after = 0;
  ForSomeEdges(dataset, [&](Node a, Node b) {
    if (a == b) return;
    const double share = 1.0 / static_cast<double>(CountEitherWay(dataset, a, b));
    before += share;
    const Node partner_a = DrawPartner(dataset, a, &draws);
    if (partner_a == b) return;
    Node partner_b = DrawPartner(dataset, b, &draws);
    if (partner_b == a) partner_b = b;
    const bool a_has_one = !(partner_a == a);
    const bool b_has_one = !(partner_b == b);
    int between = 1;
    between += a_has_one && CountEitherWay(dataset, partner_a, b) > 0;
    between += b_has_one && CountEitherWay(dataset, a, partner_b) > 0;
    between += a_has_one && b_has_one && CountEitherWay(dataset, partner_a, partner_b) > 0;
    after += share / between;
  });
  return before == 0 ? 0 : after / before;
}

void FillMetisJob(const Dataset& dataset, const NodeWeights& weights, const MetisJobOutput& job,
                  Progress* progress) {
  const int64_t num_edges = NumEdges(dataset);
  progress->Begin("making the graph symmetric for METIS", 2 * num_edges, "edges");
  FillWeights(weights, job);

  std::fill(job.offsets.begin(), job.offsets.end(), 0);
  ForEachEdge(dataset, 0, progress, [&job](int64_t target, int64_t source) {
    ++job.offsets[target + 1];
    ++job.offsets[source + 1];
  });
  for (size_t i = 1; i < job.offsets.size(); ++i) job.offsets[i] += job.offsets[i - 1];
  std::vector<int32_t> cursor(job.offsets.begin(), job.offsets.end() - 1);
  ForEachEdge(dataset, num_edges, progress, [&job, &cursor](int64_t target, int64_t source) {
    job.adjacency[cursor[target]++] = static_cast<int32_t>(source);
    job.adjacency[cursor[source]++] = static_cast<int32_t>(target);
  });
  DropDuplicates(job);
  progress->End();
}

}  // namespace vicinity

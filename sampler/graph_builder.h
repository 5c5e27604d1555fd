// Puts the hops of a minibatch together: gives each node a position when it is first met.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/node_index.h"
#include "sampler/one_hop.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// Some of the seeds that a minibatch begins with.
struct TypedSeeds {
  NodeTypeId type;
  std::vector<int64_t> ids;      // global; repeats allowed
  std::vector<int64_t> times{};  // of each, for draws by time; else empty
};

// Whether an answer can be the neighbours of so many targets along an edge type of the schema.
// InvalidArgument if its counts do not match the targets or the sources; DataLoss, naming the edge
// type and the neighbour, for one that is not in the book.
absl::Status CheckNeighbors(const Schema& schema, const Book& book, EdgeTypeId edge_type,
                            size_t num_targets, const Neighbors& neighbors);

int64_t CountSeeds(absl::Span<const TypedSeeds> lists);

// Order:    new nodes are numbered edge type by edge type, target by target, neighbour by
// neighbour,
//           so the result is the same wherever the neighbours were drawn.
// Threads:  one at a time.
// Lifetime: schema and book must outlive it.
// Memory:   bounded by the batch.
class GraphBuilder {
 public:
  GraphBuilder(const Schema& schema, const Book& book);

  // Begins a new graph, dropping one that was begun; seeds may repeat, also between the lists.
  // InvalidArgument, naming the first, for a seed that is not in the book.
  // `disjoint`: each seed begins a tree of its own, repeats too, and a node is another in each
  // tree; ResourceExhausted where trees x nodes of a type exceed 2^63.
  absl::Status Start(Expansion expansion, absl::Span<const TypedSeeds> seeds,
                     bool disjoint = false);

  // What the current hop expands: global ids of one type. Valid until the next AddRelation.
  absl::Span<const int64_t> Frontier(NodeTypeId type) const;
  // Of each of them its tree; empty if trees are not disjoint.
  absl::Span<const uint32_t> FrontierTrees(NodeTypeId type) const;

  // The neighbours of Frontier(target type), in its order. Edge types of a hop in rising order,
  // each at most once. InvalidArgument if the counts do not match the frontier or the sources, or
  // the edge types do not rise; DataLoss, naming the edge type and the neighbour, for one that is
  // not in the book; ResourceExhausted for 2^31 nodes of a type. After an error only Start() is of
  // use.
  absl::Status AddRelation(EdgeTypeId edge_type, const Neighbors& neighbors);

  // Ends the hop: what it met becomes part of the next frontier.
  void FinishHop();

  // Takes the graph; the builder can be Started again and reuses its memory.
  SampledGraph Take();

 private:
  absl::Status CheckRelation(EdgeTypeId edge_type, const Neighbors& neighbors) const;
  absl::Status CheckSeeds(const TypedSeeds& seeds) const;
  absl::Status CheckTrees(int64_t num_trees) const;
  // The trees of the list count from first_tree on.
  absl::Status NumberSeeds(const TypedSeeds& seeds, uint32_t first_tree);
  // Positions of `ids`, new nodes numbered as they come.
  absl::Status Number(NodeTypeId type, absl::Span<const int64_t> ids,
                      std::vector<int32_t>* positions);
  // As Number, for nodes of trees: trees[i] is that of the next counts[i] ids.
  absl::Status NumberInTrees(NodeTypeId type, absl::Span<const int64_t> ids,
                             absl::Span<const uint32_t> trees, absl::Span<const uint32_t> counts,
                             std::vector<int32_t>* positions);
  absl::Status CheckRoom(NodeTypeId type, size_t num_more) const;

  const Schema& schema_;
  const Book& book_;
  Expansion expansion_ = Expansion::kAllNodes;
  bool disjoint_ = false;
  SampledGraph graph_;
  std::vector<Block> blocks_;       // of the current hop
  std::vector<NodeIndex> indexes_;  // by node type
  // Disjoint trees: by node type, of each node known, tree x nodes of the type + id.
  std::vector<std::vector<int64_t>> tree_nodes_;
  std::vector<NodeIndex> tree_indexes_;  // of those
  // By node type, of the last graph that had any: about what the next will have.
  std::vector<size_t> last_num_nodes_;
};

}  // namespace vicinity

// Puts the hops of a minibatch together: gives each node a position when it is first met.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/node_index.h"
#include "sampler/one_hop.h"
#include "sampler/rules/draw_spec.h"
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

// What the trees of a minibatch's seeds are to each other, and to time.
struct TreeRules {
  // Each seed begins a tree of its own, repeats too, and a node is another in each tree.
  bool disjoint = false;
  // With disjoint: each seed has a time, and so has every node its bounds:
  // SamplingSpec::time_column, time_window, time_follows.
  bool by_time = false;
  int64_t window = -1;
  bool follow_path = false;
};

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
  // ResourceExhausted where disjoint trees x nodes of a type exceed 2^63.
  absl::Status Start(Expansion expansion, absl::Span<const TypedSeeds> seeds,
                     const TreeRules& trees = {});

  // What the current hop expands: global ids of one type. Valid until the next AddRelation.
  absl::Span<const int64_t> Frontier(NodeTypeId type) const;
  // Of each of them its tree, which its draws depend on; empty if trees are not disjoint. With
  // follow_path the nodes of a tree that have other bounds are told apart, so what is a tree here
  // is one only in part.
  absl::Span<const uint32_t> FrontierTrees(NodeTypeId type) const;
  // Of each of them between what times the edges that lead to it are; empty if not by time.
  absl::Span<const TimeBounds> FrontierTimes(NodeTypeId type) const;
  // Of each seed's tree the bounds of its seed; empty if not by time.
  std::vector<TimeBounds> TreeTimes() const;

  // The neighbours of Frontier(target type), in its order. Edge types of a hop in rising order,
  // each at most once; with follow_path also the times of their edges, or none where these have
  // none. InvalidArgument if the counts do not match the frontier or the sources, or the edge types
  // do not rise; DataLoss, naming the edge type and the neighbour, for one that is not in the book;
  // ResourceExhausted for 2^31 nodes of a type. After an error only Start() is of use.
  absl::Status AddRelation(EdgeTypeId edge_type, const Neighbors& neighbors);

  // Ends the hop: what it met becomes part of the next frontier.
  void FinishHop();

  // Takes the graph; the builder can be Started again and reuses its memory.
  SampledGraph Take();

 private:
  absl::Status CheckRelation(EdgeTypeId edge_type, const Neighbors& neighbors) const;
  absl::Status CheckSeeds(const TypedSeeds& seeds) const;
  absl::Status CheckTrees(int64_t num_trees) const;
  absl::Status NumberSeeds(const TypedSeeds& seeds);
  // A branch is a tree, or with follow_path the nodes of one that have the same bounds. Of each
  // neighbour its own: that of its target, or the one of its edge's time.
  std::vector<uint32_t> BranchesOf(NodeTypeId target_type, const Neighbors& neighbors);
  uint32_t FindOrAddBranch(uint32_t tree, int64_t until);
  // Positions of `ids`, new nodes numbered as they come.
  absl::Status Number(NodeTypeId type, absl::Span<const int64_t> ids,
                      std::vector<int32_t>* positions);
  // As Number, for nodes of trees: branches[i] is that of ids[i].
  absl::Status NumberInTrees(NodeTypeId type, absl::Span<const int64_t> ids,
                             absl::Span<const uint32_t> branches, std::vector<int32_t>* positions);
  absl::Status CheckRoom(NodeTypeId type, size_t num_more) const;

  const Schema& schema_;
  const Book& book_;
  Expansion expansion_ = Expansion::kAllNodes;
  TreeRules rules_;
  SampledGraph graph_;
  std::vector<Block> blocks_;       // of the current hop
  std::vector<NodeIndex> indexes_;  // by node type
  // Disjoint trees: the seeds' branches are the first, in their order.
  struct Branch {
    uint32_t tree = 0;
    TimeBounds times;
  };
  std::vector<Branch> branches_;
  absl::flat_hash_map<std::pair<uint32_t, int64_t>, uint32_t> branch_of_;  // of (tree, until)
  // By node type, of each node known: branch x nodes of the type + id; with follow_path its branch;
  // by time its bounds.
  std::vector<std::vector<int64_t>> tree_nodes_;
  std::vector<std::vector<uint32_t>> node_branches_;
  std::vector<std::vector<TimeBounds>> node_times_;
  std::vector<NodeIndex> tree_indexes_;  // of those
  // By node type, of the last graph that had any: about what the next will have.
  std::vector<size_t> last_num_nodes_;
};

}  // namespace vicinity

// How minibatches are sampled: what the sampler follows, what a VIP analysis assumes, and what
// a stored ranking was made for.
//
// Standard C++ alone, since the client's public headers show it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "partition/schema/schema.h"

namespace vicinity {

inline constexpr int64_t kAllNeighbors = -1;

// Which nodes a hop expands.
enum class Expansion : uint8_t {
  kAllNodes,  // every node met so far, again: message-flow graphs, one block a layer
  kNewNodes,  // only the nodes that the previous hop met for the first time: the union of hops
};

// Which of the edges that are not later than a tree's time are drawn.
enum class TemporalStrategy : uint8_t {
  kUniform,  // by chance
  kLast,     // the latest
};

// What the edges of a tree are not to be later than.
enum class TimeFollows : uint8_t {
  kSeed,  // its seed's time, at every hop
  kPath,  // the time of the edge that led to their target; of the seed's own edges, its time
};

// Whether targets of a hop draw with regard to each other.
enum class Draws : uint8_t {
  kIndependent,  // each for itself
  kLabor,        // all by one number a source, so that they choose the same sources: LABOR
};

// Which edges a minibatch has.
enum class Subgraph : uint8_t {
  kDirectional,  // those that were drawn
  kInduced,      // all edges of the graph between the nodes that the draws have met
};

struct SamplingSpec {
  // fanouts[h][e]: neighbours a target along edge type e in hop h (hop 0 is next to the seeds):
  // > 0, kAllNeighbors, or 0: do not follow this edge type. No hops at all: only with
  // Subgraph::kInduced, for the seeds alone and the edges of every type between them.
  std::vector<std::vector<int64_t>> fanouts;
  bool replace = false;
  Expansion expansion = Expansion::kAllNodes;
  // Edge types whose weight column has this name are drawn by it, others uniformly: with
  // replacement each draw has chances in proportion to the weights; without, the draws are
  // successive, each among the neighbours left. Neighbours of weight 0 are never drawn, nor taken
  // where all are. Empty: uniform.
  std::string weighted_by{};
  // Every seed has a tree of its own, drawn apart from the others: a node that two trees meet is
  // listed twice.
  bool disjoint = false;
  // Edge types with a column of this name, one int64 a row, are sampled by time: in a seed's tree,
  // at every hop, there are only edges whose value is at most the seed's time; a target that has
  // none has no neighbours. Other edge types have no times. Needs `disjoint`, and a time for each
  // seed. With weights, too; kLast without them and without replacement. As PyG's time_attr, for
  // any int64; that of nodes where the column is a copy of the sources' (ColumnSpec::of_source).
  // Empty: at any time.
  std::string time_column{};
  TemporalStrategy temporal_strategy = TemporalStrategy::kUniform;
  // With time_column: only edges of a window, from so long before the seed's time to that time,
  // both included, whatever follows what. -1: however early they are.
  int64_t time_window = -1;
  // kPath: times never rise on the way from a seed, so whatever reaches it could have (temporal
  // paths). A node to which edges of several times lead is listed once for each of these in its
  // tree, since what may lead to it is not the same. Edge types without times pass on what their
  // targets have. Not with Subgraph::kInduced.
  TimeFollows time_follows = TimeFollows::kSeed;
  // kLabor: a minibatch has fewer nodes, since the targets of a hop choose the same sources where
  // they can. Each target's sample is still what it is by chance: a uniform one of its list without
  // replacement, of min(fanout, degree) edges. It is DGL's sample_layer_neighbors without
  // importance sampling; sampler/layer_chooser.h says how it draws.
  //   weights      `weighted_by` gives order sampling by number / weight, which is near to
  //                successive draws and not the same: the same header has the chances
  //   trees        `disjoint` trees choose the same sources, too: numbers are by node
  //   times, where, excluded links, induced subgraphs: as ever
  //   cut          draws go by global ids, so another cut of the graph gives other minibatches. On
  //                one cut they are the same by any servers, replicas, mapped shards and threads
  // Not with `replace`, nor with TemporalStrategy::kLast.
  Draws draws = Draws::kIndependent;
  // With kLabor: whether all hops of a minibatch share the numbers, which joins their nodes more.
  bool layer_dependency = false;
  // With kLabor: so many minibatches in a row of an epoch share the numbers, at least 1: batches 0
  // to k - 1, k to 2k - 1, ..., which then need many of the same rows. (DGL blends the numbers of
  // neighbouring blocks instead.) Batches are numbered over all trainers.
  int64_t batch_dependency = 1;
  // A condition on columns of edges (partition/schema/condition_text.h): `year >= 2010 and not
  // kind in (3, 4)`. Edge types that have all the columns it names are sampled as if they had only
  // the edges for which it holds, at every hop; others as they are. A target without such edges has
  // no neighbours. With weights, times and everything else; of an induced subgraph as well. The
  // lists of all targets are read, until it is known which edges meet it
  // (sampler/rules/matching_cache.h). Empty: all edges.
  std::string where{};
  // kInduced: the nodes are those of kDirectional, to the last one, so whatever predicts nodes
  // holds for both. The edges are all that join them along the edge types that any hop follows,
  // each once, parallel ones too, whatever their weights, those of weight 0 as well; with
  // `disjoint` within each tree, with `time_column` none that is later than the tree's time, or
  // before its window. What
  // it costs: sampler/induced_edges.h; how it looks: sampler/sampled_graph.h.
  Subgraph subgraph = Subgraph::kDirectional;

  int num_hops() const { return static_cast<int>(fanouts.size()); }

  // The same fanout along every edge type, hop by hop.
  static SamplingSpec Uniform(const Schema& schema, const std::vector<int64_t>& fanouts);
};

// Limits that every entry point enforces.
inline constexpr int kMaxHops = 8;
inline constexpr int64_t kMaxFanout = 1 << 20;

// Empty if the spec fits the schema, else what is wrong, with the value: no hops (unless induced)
// or more than kMaxHops, a fanout of 0 everywhere in a hop, below -1 or above kMaxFanout, a wrong
// number of edge types, `weighted_by` that no edge type that is followed has as its weight column,
// `time_column` likewise, or with what it does not go together, `where` likewise, or which is no
// condition, `draws` and what belongs to it with what they do not go together.
std::string SpecProblem(const Schema& schema, const SamplingSpec& spec);

// Whether any hop goes along the edge type; without hops, all are followed.
bool IsFollowed(const SamplingSpec& spec, int edge_type);

// Whether the edge type is drawn by weight.
bool IsWeighted(const Schema& schema, const SamplingSpec& spec, int edge_type);

// Which of the edge type's columns has its times; -1: it is not sampled by time.
int32_t TimeColumnOf(const Schema& schema, const SamplingSpec& spec, int edge_type);

// Whether a column can: one int64 a row.
bool HoldsTimes(const ColumnSpec& column);

}  // namespace vicinity

// A query, what one call asks of a graph, and what it answers, as plain values
// (client/prepared_query.h).
//
// A query is steps, each with a name. A step makes nodes: of the whole graph (kNodes), or, for
// every node of an earlier step, a list of its own. Nothing is put together: a node that two lists
// have comes twice, and what goes on from there is drawn apart.
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "client/types/graph_values.h"
#include "client/types/result.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "sampler/walk_spec.h"

namespace vicinity {

enum class StepKind : uint8_t {
  kNodes = 1,  // of a node type
  kNeighbors,  // where the edges come from that lead to each node; or go to that lead from it
  kNegatives,  // for each node, as a source, targets to which no edge of it leads
  kLayer,    // nodes drawn from the neighbours of all nodes together: one list (Euler's sampleLNB)
  kWalk,     // where a random walk from each node comes by, itself first
  kVisited,  // the nodes that walks from each node visit most: PinSAGE's neighbours
  kPpr,      // the nodes of the highest personalised PageRank of each node
  kInduced,  // all edges of a type between the nodes of several steps
};

// Which of a node's edges lead to its neighbors, seen from the node.
enum class EdgeDirection : uint8_t { kIn = 0, kOut };

struct QueryStep {
  std::string name;  // of this step alone: a letter or _, then these, digits, - and .
  StepKind kind = StepKind::kNodes;
  std::string from{};  // the step that it goes on from; kNodes, kInduced: none
  // kNodes: a node type; kWalk, kVisited, kPpr: nothing; else an edge type, as
  // Schema::FindEdgeType takes it.
  std::string type{};
  // kNodes, one of these at most: the input that gives the nodes; or the user's ids, as text.
  // Neither: all nodes of the type.
  std::string input{};
  std::vector<std::string> ids{};
  Split split = Split::kNone;  // kNodes: of all nodes those of the split
  // How many are drawn: of all nodes of a kNodes, with replacement; of each list of neighbours;
  // negatives of each node; of a kLayer. kAllNeighbors, for the first two: they are not drawn, all
  // are there. Of no other kind.
  int64_t count = kAllNeighbors;
  // Draws by this column, else all alike: of kNodes and kNegatives a number of each node (as
  // NegativeWeights); of the others the edge type's weight column.
  std::string by{};
  bool replace = false;  // kNeighbors: drawn with replacement
  // kNeighbors: kOut follows edges the way they lead, from nodes of the edge type's source type to
  // their targets. The graph needs the type that has these edges the other way round (FindReverse);
  // edge ids and columns are those of `type`, but copies (ColumnSpec::of_source) are of the nodes
  // found, as they are with kIn.
  EdgeDirection direction = EdgeDirection::kIn;
  bool exact = true;        // kNegatives: as NegativeOptions
  double degree_power = 0;  // kNegatives: likewise
  bool shared = false;      // kNegatives: likewise; of all nodes of `from`, for links
  // kNegatives: conditional ones, as Graph-Learn has them. `like`: an earlier step, which has for
  // each node of `from` the target of its link; of a node's negatives shares[i], rounded down, are
  // targets that have the same value in same[i], a column with one value a row. They come first,
  // the rest is drawn from all.
  std::string like{};
  std::vector<std::string> same{};
  std::vector<double> shares{};
  // kWalk, kVisited: edge types, in the order in which steps follow them, over and over
  // (WalkSpec::metapath), how many steps, and by what they are drawn: all as WalkSpec has them.
  std::vector<std::string> metapath{};
  int64_t length = 0;
  std::string weighted_by{};
  double restart_prob = 0;
  double p = 1;
  double q = 1;
  // Of walks and kPpr: nodes of this type make the step's lists, and are what later steps go on
  // from; empty: of the type of the nodes that it goes on from. A kWalk's StepAnswer::walks has the
  // others, too.
  std::string node_type{};
  // kVisited: walks from each start, and how many of the nodes that they visit most, as VisitSpec.
  int64_t num_walks = 0;
  int64_t top = 0;
  bool exclude_start = false;
  // kInduced: earlier steps, whose nodes are of the two types that the edge type joins. A node that
  // comes several times is there once, in the order in which nodes first come.
  std::vector<std::string> among{};
  // kPpr: as PprSpec has them, with `weighted_by` and `top`. No edge types: all of the graph.
  std::vector<std::string> edge_types{};
  double alpha = 0.15;
  double eps = 1e-4;
  int64_t max_neighbors = kAllNeighbors;
  // kLayer: a node's chance is the root of the sum of its edges' weights, not the sum.
  bool square_root = false;
  // kNodes, kNeighbors, kInduced: as if there were no others than those that meet this condition
  // (SamplingSpec::where). Of kNeighbors it names columns of the edge type, which the servers look
  // at, or else of the nodes that neighbors are: then whole lists come, and these columns of
  // all their nodes, with `by` the weights of all their edges, too, and what meets the condition is
  // drawn here: as the servers would. Not both in one condition. Of kInduced it names columns of
  // the edge type.
  std::string where{};
  // Each list in this order, then its first `limit`; -1: all. "id": the user's, an integer; else a
  // column, of the edge type or of the nodes, with one number a row. Equals stay in the order of
  // the list, which is the same on any cut of the graph; NaN comes last. What has been drawn is
  // ordered: with kAllNeighbors, `limit` makes it the first of all.
  std::string order_by{};
  bool descending = false;
  int64_t limit = -1;
  std::vector<std::string> columns{};       // to bring, of the nodes
  std::vector<std::string> edge_columns{};  // kNeighbors: of the edges that led to them
  bool edge_ids = false;                    // likewise; kWalk: of StepAnswer::walks
  // Of kInduced both are of the edges between its nodes.
};

// As text, one step a line, `name = kind(arguments)`: client/query/query_text.h has the grammar.
//
//          src = nodes(paper, $seeds)
//          near = neighbors(src, cites, 10, where="year >= 2010", columns=[features])
//          far = neighbors(near, cites, 5)
//
// The same in C++; a step that is returned stays where it is while the query does:
//
//   vicinity::Query query;
//   query.Nodes("src", "paper").input = "seeds";
//   vicinity::QueryStep& near = query.Neighbors("near", "src", "cites", 10);
//   near.where = "year >= 2010";
//   near.columns = {"features"};
//   query.Neighbors("far", "near", "cites", 5);
struct Query {
  std::deque<QueryStep> steps;

  QueryStep& Nodes(std::string name, std::string node_type);
  QueryStep& Neighbors(std::string name, std::string from, std::string edge_type,
                       int64_t count = kAllNeighbors);
  QueryStep& Negatives(std::string name, std::string from, std::string edge_type, int64_t count);
  QueryStep& Layer(std::string name, std::string from, std::string edge_type, int64_t count);
  QueryStep& Walk(std::string name, std::string from, std::vector<std::string> metapath,
                  int64_t length);
  // Needs its `length` and `num_walks` as well.
  QueryStep& Visited(std::string name, std::string from, std::vector<std::string> metapath,
                     int64_t top);
  QueryStep& Ppr(std::string name, std::string from, std::vector<std::string> edge_types,
                 int64_t top);
  QueryStep& Induced(std::string name, std::vector<std::string> among, std::string edge_type);

  // kInvalidArgument saying at which line and character something else was expected, and what.
  static Result<Query> Parse(const std::string& text);
  std::string Text() const;  // Parse makes the same query of it
};

// By the names of inputs, global ids, or how many.
using QueryInputs = std::map<std::string, std::vector<int64_t>>;
using InputSizes = std::map<std::string, int64_t>;

struct StepAnswer {
  std::string name;
  StepKind kind = StepKind::kNodes;
  int32_t node_type = 0;
  // The list of the i-th node that the step goes on from is nodes[offsets[i]] .. nodes[offsets[i +
  // 1] - 1]. A kNodes, a kLayer and a kInduced have one list.
  std::vector<int64_t> offsets;
  std::vector<int64_t> nodes;     // global ids
  std::vector<int64_t> edge_ids;  // of each, positions in the user's input; if asked for
  std::vector<double> weights;    // kLayer: of each, what its chance was in proportion to
  // kWalk: a walk from each node that the step goes on from, of all node types, and of which type
  // it is where; `nodes` has of these those of `node_type`.
  Walks walks{};
  std::vector<int32_t> walk_types{};  // [walks.length + 1]
  std::vector<int64_t> counts{};      // kVisited: of each node, how often walks came to it
  std::vector<double> scores{};       // kPpr: of each node
  std::vector<double> residuals{};    // kPpr: of each list, by how much its scores may be too low
  // kInduced: `nodes` are those where edges may come from, these are those to which they may lead
  // (the same where the edge type joins nodes of one type). Of each edge where it comes from, a
  // position in `nodes`, and behind all of these where each leads, a position in `targets`: PyG's
  // edge_index. Edges go by target, then in the order of its list; `edge_ids` and `edge_columns`
  // are theirs.
  std::vector<int64_t> targets{};
  std::vector<int64_t> edge_index{};  // [2, number of edges]
  std::vector<Rows> columns;          // of the nodes, in the order of QueryStep::columns
  std::vector<Rows> edge_columns;     // of the edges, likewise
};

struct QueryAnswer {
  std::vector<StepAnswer> steps;  // as those of the query

  const StepAnswer* Find(const std::string& name) const;  // null: none
};

// What a step is expected to take, from the degrees of up to 1,024 nodes of each type, spread over
// all shards: every node is taken for one of these, though nodes that many edges lead from are met
// more often.
struct StepCost {
  std::string name;
  std::string does;        // for people, one line: who draws, what is read for it
  double lists = 0;        // nodes that it goes on from
  double nodes = 0;        // that it makes
  double shard_calls = 0;  // RPCs, were no shard mapped here and no answer taken apart
  double bytes = 0;        // that come over the wire, likewise: ids, and rows of columns
};

// Limits that every entry point enforces.
inline constexpr int64_t kMostQuerySteps = 64;
inline constexpr int64_t kMostQueryBytes = int64_t{64} << 10;  // of a text
inline constexpr int64_t kMostStepNodes = int64_t{1} << 26;    // of one step
inline constexpr int64_t kMostStepColumns = 64;                // of one step

}  // namespace vicinity

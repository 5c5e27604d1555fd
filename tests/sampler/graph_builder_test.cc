#include "sampler/graph_builder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/book.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/random.h"
#include "sampler/one_hop.h"
#include "sampler/sampled_graph.h"
#include "tests/sampler/sampled_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::Describe;

Schema TwoTypes() {
  Schema schema;
  schema.node_types.resize(2);
  schema.node_types[0].name = "paper";
  schema.node_types[1].name = "author";
  schema.edge_types = {{0, "cites", 0, {}}, {1, "writes", 0, {}}, {0, "written_by", 1, {}}};
  return schema;
}

Book TwoTypesBook(int64_t papers, int64_t authors) {
  absl::StatusOr<Book> book = Book::Create({{0, papers / 2, papers}, {0, authors, authors}});
  VICINITY_REQUIRE_OK(book);
  return *std::move(book);
}

// The same as the builder by plain searching.
class NaiveBuilder {
 public:
  NaiveBuilder(const Schema& schema, Expansion expansion) : schema_(schema), expansion_(expansion) {
    graph_.nodes.resize(schema.node_types.size());
  }

  void Start(const std::vector<TypedSeeds>& lists) {
    for (const TypedSeeds& list : lists) {
      SampledSeeds& sampled = graph_.seeds.emplace_back();
      sampled.node_type = list.type.value;
      for (const int64_t seed : list.ids) {
        sampled.positions.push_back(PositionOf(list.type.value, seed));
      }
    }
    FinishNodes();
  }
  std::vector<int64_t> Frontier(int32_t type) const {
    const SampledNodes& nodes = graph_.nodes[type];
    return {nodes.ids.begin() + FirstTarget(type), nodes.ids.begin() + nodes.hop_ends.back()};
  }

  void AddRelation(int32_t edge_type, const Neighbors& neighbors) {
    Block block;
    block.edge_type = edge_type;
    block.first_target = FirstTarget(schema_.edge_types[edge_type].target_type);
    block.offsets = {0};
    for (const uint32_t count : neighbors.counts) {
      block.offsets.push_back(block.offsets.back() + count);
    }
    for (const int64_t source : neighbors.sources) {
      block.sources.push_back(PositionOf(schema_.edge_types[edge_type].source_type, source));
    }
    block.edge_ids = neighbors.edge_ids;
    blocks_.push_back(std::move(block));
  }

  void FinishHop() {
    FinishNodes();
    graph_.hops.push_back(std::move(blocks_));
    blocks_.clear();
  }

  const SampledGraph& graph() const { return graph_; }

 private:
  int64_t FirstTarget(int32_t type) const {
    const std::vector<int64_t>& ends = graph_.nodes[type].hop_ends;
    return expansion_ == Expansion::kAllNodes || ends.size() < 2 ? 0 : ends[ends.size() - 2];
  }
  int32_t PositionOf(int32_t type, int64_t node) {
    std::vector<int64_t>& ids = graph_.nodes[type].ids;
    const auto found = std::find(ids.begin(), ids.end(), node);
    const int32_t position = static_cast<int32_t>(found - ids.begin());
    if (found == ids.end()) ids.push_back(node);
    return position;
  }
  void FinishNodes() {
    for (SampledNodes& nodes : graph_.nodes) {
      nodes.hop_ends.push_back(static_cast<int64_t>(nodes.ids.size()));
    }
  }

  const Schema& schema_;
  const Expansion expansion_;
  SampledGraph graph_;
  std::vector<Block> blocks_;
};

Neighbors RandomNeighbors(size_t num_targets, int64_t num_nodes, NodeDraws* draws) {
  Neighbors neighbors;
  const bool edge_ids = draws->Below(2) == 1;
  for (size_t i = 0; i < num_targets; ++i) {
    neighbors.counts.push_back(static_cast<uint32_t>(draws->Below(4)));
    for (uint32_t j = 0; j < neighbors.counts.back(); ++j) {
      neighbors.sources.push_back(static_cast<int64_t>(draws->Below(num_nodes)));
      if (edge_ids) neighbors.edge_ids.push_back(static_cast<int64_t>(draws->Below(1000)));
    }
  }
  return neighbors;
}

TEST_CASE("the builder agrees with one that searches lists", "[graph_builder]") {
  const Schema schema = TwoTypes();
  const Book book = TwoTypesBook(60, 9);
  const Expansion expansion = GENERATE(Expansion::kAllNodes, Expansion::kNewNodes);
  GraphBuilder builder(schema, book);  // one for all, so that what is left over would show
  NodeDraws draws(11, static_cast<uint64_t>(expansion));
  for (int round = 0; round < 200; ++round) {
    std::vector<TypedSeeds> seeds(draws.Below(4));  // lists of one type, too
    for (TypedSeeds& list : seeds) {
      list.type = {static_cast<int32_t>(draws.Below(2))};
      list.ids.resize(draws.Below(6));
      for (int64_t& seed : list.ids) {
        seed = static_cast<int64_t>(draws.Below(list.type.value == 0 ? 60 : 9));
      }
    }
    NaiveBuilder naive(schema, expansion);
    naive.Start(seeds);
    VICINITY_REQUIRE_OK(builder.Start(expansion, seeds));
    const uint64_t num_hops = draws.Below(4);
    for (uint64_t hop = 0; hop < num_hops; ++hop) {
      for (int32_t type = 0; type < 3; ++type) {
        const EdgeTypeSpec& spec = schema.edge_types[type];
        const std::vector<int64_t> frontier = naive.Frontier(spec.target_type);
        const absl::Span<const int64_t> built = builder.Frontier({spec.target_type});
        REQUIRE(std::vector<int64_t>(built.begin(), built.end()) == frontier);
        if (draws.Below(4) == 0) continue;  // an edge type that is not followed
        const Neighbors neighbors =
            RandomNeighbors(frontier.size(), book.num_nodes({spec.source_type}), &draws);
        naive.AddRelation(type, neighbors);
        VICINITY_REQUIRE_OK(builder.AddRelation({type}, neighbors));
      }
      naive.FinishHop();
      builder.FinishHop();
    }
    // A graph that is begun and dropped leaves nothing behind.
    if (round % 3 == 0) continue;
    REQUIRE(Describe(builder.Take()) == Describe(naive.graph()));
  }
}

// Each tree built by itself, and then the trees put side by side.
class NaiveTrees {
 public:
  NaiveTrees(const Schema& schema, const Book& book, Expansion expansion)
      : schema_(schema), book_(book), expansion_(expansion) {}

  // The graph that a builder of one tree makes of each seed and the tree's answers; `answers` are
  // by (tree, hop, edge type).
  using Answers = std::map<std::tuple<size_t, uint64_t, int32_t>, Neighbors>;
  std::vector<SampledGraph> Build(const std::vector<TypedSeeds>& seeds, uint64_t num_hops,
                                  const Answers& answers) {
    std::vector<SampledGraph> trees;
    for (size_t tree = 0; tree < seeds.size(); ++tree) {
      GraphBuilder builder(schema_, book_);
      VICINITY_REQUIRE_OK(builder.Start(expansion_, {seeds[tree]}));
      for (uint64_t hop = 0; hop < num_hops; ++hop) {
        for (int32_t type = 0; type < 3; ++type) {
          const auto found = answers.find({tree, hop, type});
          if (found == answers.end()) continue;
          VICINITY_REQUIRE_OK(builder.AddRelation({type}, found->second));
        }
        builder.FinishHop();
      }
      trees.push_back(builder.Take());
    }
    return trees;
  }

 private:
  const Schema& schema_;
  const Book& book_;
  const Expansion expansion_;
};

// (edge type, target, source, edge id) of every edge of a hop in one tree, by the nodes' ids.
using EdgeSet = std::multiset<std::tuple<int32_t, int64_t, int64_t, int64_t>>;

EdgeSet EdgesOf(const Schema& schema, const SampledGraph& graph, size_t hop, int64_t tree) {
  EdgeSet edges;
  for (const Block& block : graph.hops[hop]) {
    const EdgeTypeSpec& spec = schema.edge_types[block.edge_type];
    const SampledNodes& targets = graph.nodes[spec.target_type];
    const SampledNodes& sources = graph.nodes[spec.source_type];
    for (int64_t i = 0; i < block.num_targets(); ++i) {
      const int64_t target = block.first_target + i;
      for (int64_t k = block.offsets[i]; k < block.offsets[i + 1]; ++k) {
        if (!targets.trees.empty()) {
          REQUIRE(targets.trees[target] == sources.trees[block.sources[k]]);
          if (static_cast<int64_t>(targets.trees[target]) != tree) continue;
        }
        edges.emplace(block.edge_type, targets.ids[target], sources.ids[block.sources[k]],
                      block.edge_ids.empty() ? 0 : block.edge_ids[k]);
      }
    }
  }
  return edges;
}

std::multiset<int64_t> NodesOf(const SampledNodes& nodes, int64_t tree) {
  std::multiset<int64_t> ids;
  for (size_t i = 0; i < nodes.ids.size(); ++i) {
    if (nodes.trees.empty() || static_cast<int64_t>(nodes.trees[i]) == tree) {
      ids.insert(nodes.ids[i]);
    }
  }
  return ids;
}

TreeRules DisjointTrees() {
  TreeRules rules;
  rules.disjoint = true;
  return rules;
}

TEST_CASE("disjoint trees are those that each seed alone would have", "[graph_builder]") {
  const Schema schema = TwoTypes();
  const Book book = TwoTypesBook(60, 9);
  const Expansion expansion = GENERATE(Expansion::kAllNodes, Expansion::kNewNodes);
  GraphBuilder builder(schema, book);  // one for all, so that what is left over would show
  NodeDraws draws(12, static_cast<uint64_t>(expansion));
  for (int round = 0; round < 100; ++round) {
    // Repeats, too; the trees count through both lists.
    std::vector<TypedSeeds> lists(2);
    std::vector<TypedSeeds> seeds;  // of each tree
    for (TypedSeeds& list : lists) {
      list.type = {static_cast<int32_t>(draws.Below(2))};
      list.ids.resize(draws.Below(4));
      for (int64_t& seed : list.ids) {
        seed = static_cast<int64_t>(draws.Below(9));
        seeds.push_back({list.type, {seed}});
      }
    }
    const uint64_t num_hops = draws.Below(4);
    NaiveTrees::Answers answers;
    VICINITY_REQUIRE_OK(builder.Start(expansion, lists, DisjointTrees()));
    for (uint64_t hop = 0; hop < num_hops; ++hop) {
      for (int32_t type = 0; type < 3; ++type) {
        const EdgeTypeSpec& spec = schema.edge_types[type];
        const absl::Span<const uint32_t> trees = builder.FrontierTrees({spec.target_type});
        REQUIRE(trees.size() == builder.Frontier({spec.target_type}).size());
        const Neighbors neighbors =
            RandomNeighbors(trees.size(), book.num_nodes({spec.source_type}), &draws);
        for (size_t tree = 0; tree < seeds.size(); ++tree) answers[{tree, hop, type}];
        size_t next = 0;
        for (size_t i = 0; i < trees.size(); ++i) {
          Neighbors& answer = answers[{trees[i], hop, type}];
          answer.counts.push_back(neighbors.counts[i]);
          for (uint32_t k = 0; k < neighbors.counts[i]; ++k, ++next) {
            answer.sources.push_back(neighbors.sources[next]);
            if (!neighbors.edge_ids.empty()) answer.edge_ids.push_back(neighbors.edge_ids[next]);
          }
        }
        VICINITY_REQUIRE_OK(builder.AddRelation({type}, neighbors));
      }
      builder.FinishHop();
    }
    const SampledGraph graph = builder.Take();
    const std::vector<SampledGraph> expected =
        NaiveTrees(schema, book, expansion).Build(seeds, num_hops, answers);
    REQUIRE(graph.num_seeds() == static_cast<int64_t>(seeds.size()));
    for (size_t tree = 0; tree < seeds.size(); ++tree) {
      const bool first = tree < lists[0].ids.size();
      const SampledSeeds& list = graph.seeds[first ? 0 : 1];
      const int32_t position = list.positions[first ? tree : tree - lists[0].ids.size()];
      REQUIRE(graph.nodes[list.node_type].ids[position] == seeds[tree].ids[0]);
      REQUIRE(graph.nodes[list.node_type].trees[position] == tree);
      const auto number = static_cast<int64_t>(tree);
      for (size_t type = 0; type < 2; ++type) {
        REQUIRE(NodesOf(graph.nodes[type], number) == NodesOf(expected[tree].nodes[type], number));
      }
      for (size_t hop = 0; hop < num_hops; ++hop) {
        REQUIRE(EdgesOf(schema, graph, hop, number) ==
                EdgesOf(schema, expected[tree], hop, number));
      }
    }
  }
}

TEST_CASE("along a path a node is listed once for each time that led to it", "[graph_builder]") {
  const Schema schema = TwoTypes();
  const Book book = TwoTypesBook(60, 9);
  GraphBuilder builder(schema, book);
  TreeRules rules = DisjointTrees();
  rules.by_time = true;
  rules.follow_path = true;
  rules.window = 10;
  VICINITY_CHECK_CODE(builder.Start(Expansion::kNewNodes, {{{0}, {5, 5}, {7}}}, rules),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_REQUIRE_OK(builder.Start(Expansion::kNewNodes, {{{0}, {5, 5}, {7, INT64_MIN}}}, rules));
  REQUIRE(schema.edge_types[0].source_type == 0);
  REQUIRE(schema.edge_types[0].target_type == 0);
  Neighbors neighbors;
  neighbors.counts = {4, 1};
  neighbors.sources = {8, 8, 8, 5, 8};
  neighbors.edge_times = {3, 2, 3, 7, INT64_MIN};
  VICINITY_REQUIRE_OK(builder.AddRelation({0}, neighbors));
  builder.FinishHop();
  // In the first tree node 8 at times 3 and 2; node 5, which led there at the seed's own time, is
  // the seed; in the second node 8.
  const absl::Span<const int64_t> frontier = builder.Frontier({0});
  CHECK(std::vector<int64_t>(frontier.begin(), frontier.end()) == std::vector<int64_t>{8, 8, 8});
  const absl::Span<const TimeBounds> times = builder.FrontierTimes({0});
  REQUIRE(times.size() == 3);
  CHECK(times[0].until == 3);
  CHECK(times[0].from == -3);  // the window is the seed's
  CHECK(times[1].until == 2);
  CHECK(times[1].from == -3);
  CHECK(times[2].until == INT64_MIN);
  CHECK(times[2].from == INT64_MIN);
  const absl::Span<const uint32_t> trees = builder.FrontierTrees({0});
  CHECK(std::set<uint32_t>(trees.begin(), trees.end()).size() == 3);
  // Edges without times pass on what their targets have.
  Neighbors timeless;
  timeless.counts = {1, 1, 1};
  timeless.sources = {8, 8, 9};
  VICINITY_REQUIRE_OK(builder.AddRelation({0}, timeless));
  builder.FinishHop();
  const SampledGraph graph = builder.Take();
  CHECK(graph.nodes[0].ids == std::vector<int64_t>{5, 5, 8, 8, 8, 9});
  CHECK(graph.nodes[0].trees == std::vector<uint32_t>{0, 1, 0, 0, 1, 1});
  CHECK(graph.hops[0][0].sources == std::vector<int32_t>{2, 3, 2, 0, 4});
  CHECK(graph.hops[1][0].sources == std::vector<int32_t>{2, 3, 5});
}

TEST_CASE("repeated seeds are one node each", "[graph_builder]") {
  const Schema schema = TwoTypes();
  const Book book = TwoTypesBook(60, 9);
  GraphBuilder builder(schema, book);
  VICINITY_REQUIRE_OK(builder.Start(Expansion::kAllNodes, {{{0}, {7, 3, 7, 7, 1}}}));
  const SampledGraph graph = builder.Take();
  CHECK(graph.nodes[0].ids == std::vector<int64_t>{7, 3, 1});
  CHECK(graph.seeds[0].positions == std::vector<int32_t>{0, 1, 0, 0, 2});
  CHECK(graph.nodes[0].hop_ends == std::vector<int64_t>{3});
  CHECK(graph.nodes[1].hop_ends == std::vector<int64_t>{0});
  CHECK(graph.num_edges() == 0);
}

TEST_CASE("seeds that do not exist are refused", "[graph_builder]") {
  const Schema schema = TwoTypes();
  const Book book = TwoTypesBook(60, 9);
  GraphBuilder builder(schema, book);
  const int64_t bad = GENERATE(int64_t{-1}, 60, INT64_MAX, INT64_MIN);
  VICINITY_CHECK_CODE(builder.Start(Expansion::kAllNodes, {{{0}, {5, bad}}}),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(builder.Start(Expansion::kAllNodes, {{{1}, {9}}}),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(builder.Start(Expansion::kAllNodes, {{{2}, {}}}),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(builder.Start(Expansion::kAllNodes, {{{-1}, {}}}),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_OK(builder.Start(Expansion::kAllNodes, {{{0}, {5}}}));
}

TEST_CASE("answers that do not fit what was asked are refused", "[graph_builder]") {
  const Schema schema = TwoTypes();
  const Book book = TwoTypesBook(60, 9);
  GraphBuilder builder(schema, book);
  VICINITY_REQUIRE_OK(builder.Start(Expansion::kAllNodes, {{{0}, {5, 6}}}));
  Neighbors neighbors;
  neighbors.counts = {1, 2};
  neighbors.sources = {3, 4, 5};
  int32_t edge_type = 0;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  SECTION("a count missing") { neighbors.counts = {3}; }
  SECTION("a count too many") { neighbors.counts = {1, 1, 1}; }
  SECTION("a neighbour missing") { neighbors.sources.pop_back(); }
  SECTION("a neighbour too many") { neighbors.sources.push_back(1); }
  SECTION("an edge id missing") { neighbors.edge_ids = {1, 2}; }
  SECTION("an edge type that there is not") { edge_type = GENERATE(-1, 3); }
  SECTION("an edge type that came before") {
    VICINITY_REQUIRE_OK(builder.AddRelation({1}, neighbors));
    edge_type = GENERATE(0, 1);
  }
  SECTION("a neighbour that is no node") {
    neighbors.sources[1] = GENERATE(int64_t{-1}, 60, INT64_MAX);
    code = absl::StatusCode::kDataLoss;
  }
  VICINITY_CHECK_CODE(builder.AddRelation({edge_type}, neighbors), code);
  VICINITY_CHECK_OK(builder.Start(Expansion::kAllNodes, {{{0}, {5, 6}}}));
}

}  // namespace
}  // namespace vicinity

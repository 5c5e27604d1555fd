#include "sampler/proximity/forward_push.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/neighbor_source.h"
#include "sampler/one_hop.h"
#include "sampler/proximity/ppr_spec.h"
#include "tests/sampler/stored_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::InEdge;
using testing::MemoryGraph;
using testing::Stored;

constexpr MinibatchDraw kDraw{7, 2, 5};

// Weights as the edges in memory have them, of whole lists.
class MemoryWeights : public WeightSource {
 public:
  MemoryWeights(const MemoryGraph& graph, const Stored& stored) : graph_(graph), stored_(stored) {}

  absl::Status FindWeights(EdgeTypeId edge_type, absl::Span<const int64_t> targets,
                           const Neighbors& drawn, std::vector<double>* weights) override {
    const int32_t type = graph_.schema.edge_types[edge_type.value].target_type;
    REQUIRE(drawn.edge_positions.size() == drawn.sources.size());
    weights->clear();
    for (const int64_t target : targets) {
      for (const InEdge& edge : graph_.InEdges(edge_type, stored_.PositionOf(type, target))) {
        weights->push_back(WeightOf(graph_, edge_type, edge.edge_id));
      }
    }
    return absl::OkStatus();
  }

  static float WeightOf(const MemoryGraph& graph, EdgeTypeId edge_type, int64_t edge_id) {
    const EdgeTypeSpec& type = graph.schema.edge_types[edge_type.value];
    const int column = type.FindColumn(type.weight_column);
    float weight = 0;
    std::memcpy(&weight, graph.edge_row(edge_type, column, edge_id).data(), sizeof(weight));
    return weight;
  }

 private:
  const MemoryGraph& graph_;
  const Stored& stored_;
};

// What was asked of a dataset's lists.
class WatchedSource : public NeighborSource {
 public:
  explicit WatchedSource(const Stored& stored) : source_(stored.dataset(), kDraw) {}

  absl::Status Sample(int hop, absl::Span<const RelationRequest> relations,
                      absl::Span<Neighbors> neighbors) override {
    hop_ = hop;
    VICINITY_REQUIRE_OK(source_.Sample(hop, relations, neighbors));
    for (size_t i = 0; i < relations.size(); ++i) {
      for (const int64_t target : relations[i].targets) {
        ++asked_[{relations[i].edge_type.value, target}];
      }
      for (const uint32_t count : neighbors[i].counts) {
        longest_ = std::max(longest_, int64_t{count});
        num_edges_ += count;
      }
    }
    return absl::OkStatus();
  }

  absl::Status CountEdges(absl::Span<const RelationRequest> relations,
                          absl::Span<std::vector<int64_t>> degrees) override {
    for (const RelationRequest& relation : relations) {
      for (const int64_t target : relation.targets) {
        ++counted_[{relation.edge_type.value, target}];
      }
    }
    return source_.CountEdges(relations, degrees);
  }

  int hop() const { return hop_; }
  int64_t longest() const { return longest_; }
  int64_t num_edges() const { return num_edges_; }
  int64_t num_lists() const { return static_cast<int64_t>(asked_.size()); }
  int64_t most_asked() const { return Most(asked_); }
  int64_t most_counted() const { return Most(counted_); }

 private:
  using Times = std::map<std::pair<int32_t, int64_t>, int64_t>;  // by edge type and node

  static int64_t Most(const Times& asked) {
    int64_t most = 0;
    for (const auto& [of, times] : asked) most = std::max(most, times);
    return most;
  }

  LocalNeighborSource source_;
  int hop_ = 0;
  int64_t longest_ = 0;
  int64_t num_edges_ = 0;
  Times asked_;
  Times counted_;
};

// From positions; what it gives has positions, too.
absl::StatusOr<PprScores> Rank(const MemoryGraph& graph, const Stored& stored, const PprSpec& spec,
                               int32_t seed_type, const std::vector<int64_t>& seeds) {
  LocalNeighborSource source(stored.dataset(), kDraw);
  MemoryWeights weights(graph, stored);
  ForwardPush push(graph.schema, stored.dataset().book(), &source, &weights);
  absl::StatusOr<PprScores> ranked = push.Rank(spec, {seed_type}, stored.Ids(seed_type, seeds));
  if (!ranked.ok()) return ranked;
  const int32_t type = spec.node_type >= 0 ? spec.node_type : seed_type;
  for (int64_t& node : ranked->nodes) {
    if (node >= 0) node = stored.PositionOf(type, node);
  }
  return ranked;
}

// In-lists of all nodes: those of a type follow those of the type before.
struct DenseGraph {
  std::vector<int64_t> firsts;               // by type, and the number of all
  std::vector<std::vector<int64_t>> lists;   // of sources
  std::vector<std::vector<double>> weights;  // of their edges
};

DenseGraph Densely(const MemoryGraph& graph, const std::vector<int32_t>& edge_types,
                   const std::string& weighted_by = "") {
  DenseGraph dense;
  dense.firsts.push_back(0);
  for (const testing::MemoryNodes& nodes : graph.nodes) {
    dense.firsts.push_back(dense.firsts.back() + static_cast<int64_t>(nodes.keys.size()));
  }
  dense.lists.resize(dense.firsts.back());
  dense.weights.resize(dense.firsts.back());
  for (const int32_t type : edge_types) {
    const EdgeTypeSpec& spec = graph.schema.edge_types[type];
    for (size_t e = 0; e < graph.edges[type].sources.size(); ++e) {
      const int64_t target = dense.firsts[spec.target_type] + graph.edges[type].targets[e];
      const bool weighted = !weighted_by.empty() && spec.weight_column == weighted_by;
      const double weight =
          weighted ? MemoryWeights::WeightOf(graph, {type}, static_cast<int64_t>(e)) : 1;
      if (weight == 0) continue;
      dense.lists[target].push_back(dense.firsts[spec.source_type] + graph.edges[type].sources[e]);
      dense.weights[target].push_back(weight);
    }
  }
  return dense;
}

// Where a walker stops, by power iteration.
std::vector<double> ExactPpr(const DenseGraph& graph, int64_t seed, double alpha) {
  std::vector<double> stopped(graph.lists.size());
  std::vector<double> under_way(graph.lists.size());
  under_way[seed] = 1;
  for (double left = 1; left > 1e-14;) {
    std::vector<double> next(graph.lists.size());
    for (size_t node = 0; node < graph.lists.size(); ++node) {
      const std::vector<int64_t>& list = graph.lists[node];
      const double stops = list.empty() ? 1 : alpha;
      stopped[node] += stops * under_way[node];
      double sum = 0;
      for (const double weight : graph.weights[node]) sum += weight;
      for (size_t i = 0; i < list.size(); ++i) {
        next[list[i]] += (1 - stops) * under_way[node] * graph.weights[node][i] / sum;
      }
    }
    under_way = std::move(next);
    left = 0;
    for (const double each : under_way) left += each;
  }
  return stopped;
}

// A seed's row of scores, by position.
std::vector<double> ScoresOf(const PprScores& ranked, int64_t seed, int64_t num_nodes) {
  std::vector<double> scores(num_nodes);
  for (int64_t i = seed * ranked.top; i < (seed + 1) * ranked.top; ++i) {
    if (ranked.nodes[i] < 0) {
      REQUIRE(ranked.scores[i] == 0);
      continue;
    }
    REQUIRE(ranked.scores[i] > 0);
    REQUIRE(scores[ranked.nodes[i]] == 0);
    scores[ranked.nodes[i]] = ranked.scores[i];
  }
  return scores;
}

std::vector<int64_t> FirstNodes(int64_t count) {
  std::vector<int64_t> nodes;
  for (int64_t node = 0; node < count; ++node) nodes.push_back(node);
  return nodes;
}

PprSpec Spec(double alpha, double eps, int64_t top) {
  PprSpec spec;
  spec.alpha = alpha;
  spec.eps = eps;
  spec.top = top;
  return spec;
}

TEST_CASE("scores are below the exact ones by the residual in all", "[forward_push]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 80;
  options.num_edges = GENERATE(120, 500);  // with nodes that no edge leads to, loops, doubles
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  const double alpha = GENERATE(0.1, 0.5);
  const double eps = GENERATE(1e-1, 1e-3, 1e-6);
  VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores ranked,
                                Rank(graph, stored, Spec(alpha, eps, 80), 0, FirstNodes(80)));
  REQUIRE(ranked.residuals.size() == 80);
  const DenseGraph dense = Densely(graph, {0});
  for (int64_t seed = 0; seed < 80; ++seed) {
    const std::vector<double> exact = ExactPpr(dense, seed, alpha);
    const std::vector<double> scores = ScoresOf(ranked, seed, 80);
    const double residual = ranked.residuals[seed];
    double sum = 0;
    for (int64_t node = 0; node < 80; ++node) {
      const double missing = exact[node] - scores[node];
      REQUIRE(missing > -1e-12);
      REQUIRE(missing < residual + 1e-12);
      sum += missing;
    }
    REQUIRE(sum == Approx(residual).margin(1e-10));
    REQUIRE(residual <= eps * static_cast<double>(options.num_edges + 80));
  }
  if (eps > 1e-2) CHECK(*std::max_element(ranked.residuals.begin(), ranked.residuals.end()) > 0.1);
}

TEST_CASE("where every edge leads back, scores miss at most eps times degree", "[forward_push]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 200;
  options.num_edges = 400;
  MemoryGraph graph = testing::RandomGraph(options);
  testing::MemoryEdges& edges = graph.edges[0];
  for (size_t e = 0; e < 200; ++e) {
    edges.sources[200 + e] = edges.targets[e];
    edges.targets[200 + e] = edges.sources[e];
  }
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  const double eps = GENERATE(1e-2, 1e-4);
  VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores ranked,
                                Rank(graph, stored, Spec(0.2, eps, 200), 0, FirstNodes(200)));
  const DenseGraph dense = Densely(graph, {0});
  double worst = 0;
  for (int64_t seed = 0; seed < 200; ++seed) {
    const std::vector<double> exact = ExactPpr(dense, seed, 0.2);
    const std::vector<double> scores = ScoresOf(ranked, seed, 200);
    for (int64_t node = 0; node < 200; ++node) {
      const double bound = eps * static_cast<double>(dense.lists[node].size());
      REQUIRE(exact[node] - scores[node] <= bound + 1e-12);
      if (bound > 0) worst = std::max(worst, (exact[node] - scores[node]) / bound);
    }
  }
  CHECK(worst > 0.1);  // the bound is not far off
}

TEST_CASE("ranks are the same to the last bit for 1, 2, 4 and 8 shards", "[forward_push]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 150;
  options.num_edges = 900;
  const bool typed = GENERATE(false, true);
  const MemoryGraph graph =
      typed ? testing::TypedGraph(80, 40, 20, 3) : testing::RandomGraph(options);
  PprSpec spec = Spec(0.15, 1e-4, 25);
  spec.max_neighbors = GENERATE(int64_t{3}, kAllNeighbors);
  if (typed) spec.node_type = 1;
  const testing::TempDir dir;
  const Stored whole(graph, InUserOrder(graph), dir.File("whole"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores expected,
                                Rank(graph, whole, spec, 0, FirstNodes(60)));
  for (const int32_t shards : {2, 4, 8}) {
    const Stored cut(graph, Shuffled(graph, shards, 40 + shards), dir.File(absl::StrCat(shards)));
    VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores found, Rank(graph, cut, spec, 0, FirstNodes(60)));
    REQUIRE(found.nodes == expected.nodes);
    REQUIRE(found.scores == expected.scores);
    REQUIRE(found.residuals == expected.residuals);
  }
}

TEST_CASE("a seed's scores do not depend on those beside it; the highest come first",
          "[forward_push]") {
  const MemoryGraph graph = testing::RandomGraph({});
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores all,
                                Rank(graph, stored, Spec(0.15, 1e-3, 100), 0, {4, 0, 99, 4}));
  for (const int64_t place : {0, 2, 3}) {
    const int64_t seed = place == 2 ? 99 : 4;
    VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores alone,
                                  Rank(graph, stored, Spec(0.15, 1e-3, 7), 0, {seed}));
    for (int64_t i = 0; i < 7; ++i) {
      REQUIRE(alone.nodes[i] == all.nodes[place * 100 + i]);
      REQUIRE(alone.scores[i] == all.scores[place * 100 + i]);
      REQUIRE((i == 0 || alone.scores[i] <= alone.scores[i - 1]));
    }
    REQUIRE(alone.residuals[0] == all.residuals[place]);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores none,
                                Rank(graph, stored, Spec(0.15, 1e-3, 7), 0, {}));
  CHECK(none.nodes.empty());
  CHECK(none.residuals.empty());
}

TEST_CASE("edges of all types that lead to a node are alike", "[forward_push]") {
  const MemoryGraph graph = testing::TypedGraph(30, 15, 10, 3);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  PprSpec spec = Spec(0.2, 1e-6, 40);
  spec.edge_types = GENERATE(std::vector<int32_t>{}, std::vector<int32_t>{3, 1, 0});
  const DenseGraph dense = Densely(
      graph, spec.edge_types.empty() ? std::vector<int32_t>{0, 1, 2, 3, 4} : spec.edge_types);
  std::vector<double> found(30, 0);
  for (const int32_t type : {0, 1, 2}) {
    spec.node_type = type;
    if (type == 2 && !spec.edge_types.empty()) continue;
    VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores ranked,
                                  Rank(graph, stored, spec, 0, FirstNodes(30)));
    for (int64_t seed = 0; seed < 30; ++seed) {
      const std::vector<double> exact = ExactPpr(dense, seed, 0.2);
      const int64_t num_nodes = dense.firsts[type + 1] - dense.firsts[type];
      const std::vector<double> scores = ScoresOf(ranked, seed, num_nodes);
      for (int64_t node = 0; node < num_nodes; ++node) {
        const double missing = exact[dense.firsts[type] + node] - scores[node];
        REQUIRE(missing > -1e-12);
        REQUIRE(missing < ranked.residuals[seed] + 1e-12);
        found[seed] += scores[node];
      }
      REQUIRE(ranked.residuals[seed] < 1e-3);
    }
  }
  for (const double sum : found) CHECK(sum == Approx(1).margin(1e-3));
}

TEST_CASE("edges count as their weights, those of other types as 1", "[forward_push]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 60;
  options.num_edges = 150;  // lists whose weights are 0 all happen
  options.weights = true;
  const bool typed = GENERATE(false, true);
  const MemoryGraph graph =
      typed ? testing::TypedGraph(30, 15, 10, 3) : testing::RandomGraph(options);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  PprSpec spec = Spec(0.2, 1e-6, 60);
  spec.weighted_by = "weight";
  const std::vector<int32_t> types =
      typed ? std::vector<int32_t>{0, 1, 2, 3, 4} : std::vector<int32_t>{0};
  const DenseGraph dense = Densely(graph, types, "weight");
  const int64_t num_nodes = graph.num_nodes({0});
  VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores ranked,
                                Rank(graph, stored, spec, 0, FirstNodes(num_nodes)));
  for (int64_t seed = 0; seed < num_nodes; ++seed) {
    const std::vector<double> exact = ExactPpr(dense, seed, 0.2);
    const std::vector<double> scores = ScoresOf(ranked, seed, num_nodes);
    for (int64_t node = 0; node < num_nodes; ++node) {
      REQUIRE(exact[node] - scores[node] > -1e-12);
      REQUIRE(exact[node] - scores[node] < ranked.residuals[seed] + 1e-12);
    }
    REQUIRE(ranked.residuals[seed] < 1e-3);
  }
  spec.weighted_by = "";
  VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores alike,
                                Rank(graph, stored, spec, 0, FirstNodes(num_nodes)));
  CHECK(alike.scores != ranked.scores);
}

TEST_CASE("a walker stops where no edge leads on", "[forward_push]") {
  MemoryGraph graph = testing::RandomGraph({/*num_nodes=*/4, /*num_edges=*/3});
  graph.edges[0].sources = {1, 2, 1};  // 0 <- 1 <- 2, twice from 1
  graph.edges[0].targets = {0, 1, 0};
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores ranked,
                                Rank(graph, stored, Spec(0.25, 1e-3, 4), 0, {0, 3}));
  CHECK(ranked.nodes == std::vector<int64_t>{2, 0, 1, -1, 3, -1, -1, -1});
  CHECK(ranked.scores == std::vector<double>{0.5625, 0.25, 0.1875, 0, 1, 0, 0, 0});
  CHECK(ranked.residuals == std::vector<double>{0, 0});
}

// Node 0 has an edge from each of the others, and these have one from it.
MemoryGraph Star(int64_t num_leaves) {
  MemoryGraph graph = testing::RandomGraph({num_leaves + 1, 2 * num_leaves});
  for (int64_t leaf = 0; leaf < num_leaves; ++leaf) {
    graph.edges[0].sources[leaf] = leaf + 1;
    graph.edges[0].targets[leaf] = 0;
    graph.edges[0].sources[num_leaves + leaf] = 0;
    graph.edges[0].targets[num_leaves + leaf] = leaf + 1;
  }
  return graph;
}

TEST_CASE("a list is asked for once, and none is longer than the residual pays for",
          "[forward_push]") {
  const MemoryGraph graph = Star(2000);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  WatchedSource source(stored);
  ForwardPush push(graph.schema, stored.dataset().book(), &source, nullptr);
  PprSpec spec = Spec(0.25, 1e-3, 10);
  // The hub's 2000 edges would need a residual of 2: it is all left there.
  VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores stuck,
                                push.Rank(spec, {0}, stored.Ids(0, {5, 6, 5})));
  CHECK(stuck.residuals == std::vector<double>{0.75, 0.75, 0.75});
  CHECK(stuck.nodes[0] == stored.Ids(0, {5})[0]);
  CHECK(stuck.nodes[1] == -1);
  CHECK(source.num_lists() == 2);
  CHECK(source.longest() == 1);
  CHECK(source.most_asked() == 1);
  CHECK(source.most_counted() == 1);
  // With lists of at most 20 the hub pushes to 20 leaves, the same of every seed.
  spec.max_neighbors = 20;
  spec.top = 100;
  VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores drawn,
                                push.Rank(spec, {0}, stored.Ids(0, {5, 6, 0})));
  CHECK(source.longest() == 20);
  std::vector<std::vector<int64_t>> leaves;
  for (int64_t seed = 0; seed < 3; ++seed) {
    CHECK(drawn.residuals[seed] < 0.3);
    std::vector<int64_t> others;
    for (int64_t i = 0; i < 100 && drawn.nodes[seed * 100 + i] >= 0; ++i) {
      const int64_t node = stored.PositionOf(0, drawn.nodes[seed * 100 + i]);
      if (node > 6) others.push_back(node);
    }
    std::sort(others.begin(), others.end());
    CHECK(others.size() >= 18);
    CHECK(others.size() <= 20);
    leaves.push_back(std::move(others));
  }
  CHECK(leaves[0] == leaves[1]);
  CHECK(leaves[0] == leaves[2]);
}

TEST_CASE("with little memory lists are fetched again, and scores stay the same",
          "[forward_push]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 150;
  options.num_edges = 900;
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  PprSpec spec = Spec(0.15, 1e-4, 25);
  spec.max_neighbors = 4;
  const auto rank = [&](const ForwardPush::Limits& limits, WatchedSource* source) {
    ForwardPush push(graph.schema, stored.dataset().book(), source, nullptr, limits);
    absl::StatusOr<PprScores> ranked = push.Rank(spec, {0}, stored.Ids(0, FirstNodes(40)));
    VICINITY_REQUIRE_OK(ranked.status());
    return *std::move(ranked);
  };
  WatchedSource roomy(stored);
  const PprScores expected = rank({}, &roomy);
  CHECK(roomy.most_asked() == 1);
  ForwardPush::Limits limits;
  limits.max_kept_edges = GENERATE(0, 100);
  limits.max_group_nodes = GENERATE(1, 1000);
  WatchedSource narrow(stored);
  const PprScores found = rank(limits, &narrow);
  CHECK(narrow.most_asked() > 5);
  CHECK(found.nodes == expected.nodes);
  CHECK(found.scores == expected.scores);
  CHECK(found.residuals == expected.residuals);
}

TEST_CASE("of one seed no more edges are followed than alpha and eps allow", "[forward_push]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 3000;
  options.num_edges = 30000;
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  WatchedSource source(stored);
  ForwardPush push(graph.schema, stored.dataset().book(), &source, nullptr);
  VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores ranked,
                                push.Rank(Spec(0.2, 1e-2, 10), {0}, stored.Ids(0, {17})));
  CHECK(source.num_edges() > 10);
  CHECK(source.num_edges() <= 500);
}

TEST_CASE("with lists that were drawn scores are those of the graph with these", "[forward_push]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 60;
  options.num_edges = 900;
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  PprSpec spec = Spec(0.15, 1e-5, 60);
  spec.max_neighbors = 4;
  WatchedSource source(stored);
  ForwardPush push(graph.schema, stored.dataset().book(), &source, nullptr);
  VICINITY_ASSERT_OK_AND_ASSIGN(const PprScores ranked,
                                push.Rank(spec, {0}, stored.Ids(0, FirstNodes(60))));
  const std::vector<int64_t> targets = stored.Ids(0, FirstNodes(60));
  RelationRequest request;
  request.edge_type = {0};
  request.spec.fanout = 4;
  request.targets = targets;
  Neighbors drawn;
  VICINITY_REQUIRE_OK(source.Sample(source.hop(), {request}, absl::MakeSpan(&drawn, 1)));
  DenseGraph dense;
  size_t next = 0;
  for (const uint32_t count : drawn.counts) {
    dense.lists.emplace_back();
    for (uint32_t k = 0; k < count; ++k) {
      dense.lists.back().push_back(stored.PositionOf(0, drawn.sources[next++]));
    }
    dense.weights.emplace_back(count, 1.0);
  }
  for (int64_t seed = 0; seed < 60; ++seed) {
    const std::vector<double> exact = ExactPpr(dense, seed, 0.15);
    const std::vector<double> scores = ScoresOf(ranked, seed, 60);
    for (int64_t node = 0; node < 60; ++node) {
      REQUIRE(exact[node] - scores[node] > -1e-12);
      REQUIRE(exact[node] - scores[node] < ranked.residuals[seed] + 1e-12);
    }
    REQUIRE(ranked.residuals[seed] < 1e-2);
  }
}

// Answers with an error, or with a neighbour that there is not.
class WrongSource : public NeighborSource {
 public:
  explicit WrongSource(absl::Status status) : status_(std::move(status)) {}
  absl::Status Sample(int /*hop*/, absl::Span<const RelationRequest> relations,
                      absl::Span<Neighbors> neighbors) override {
    for (size_t i = 0; i < relations.size(); ++i) {
      neighbors[i].counts.assign(relations[i].targets.size(), 1);
      neighbors[i].sources.assign(relations[i].targets.size(), 100);
    }
    return status_;
  }
  absl::Status CountEdges(absl::Span<const RelationRequest> relations,
                          absl::Span<std::vector<int64_t>> degrees) override {
    for (size_t i = 0; i < relations.size(); ++i) degrees[i].assign(relations[i].targets.size(), 1);
    return absl::OkStatus();
  }

 private:
  const absl::Status status_;
};

TEST_CASE("what is wrong is passed up or named", "[forward_push]") {
  const MemoryGraph graph = testing::RandomGraph({});
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  const std::vector<int64_t> seeds = {graph.edges[0].targets[0]};  // an edge leads there
  const auto code = [&](absl::Status status, const PprSpec& spec,
                        const std::vector<int64_t>& from) {
    WrongSource source(std::move(status));
    ForwardPush push(graph.schema, stored.dataset().book(), &source, nullptr);
    return push.Rank(spec, {0}, from).status();
  };
  const PprSpec spec = Spec(0.15, 1e-3, 5);
  const auto absent = absl::UnavailableError("gone");
  CHECK(code(absent, spec, seeds) == absent);
  VICINITY_CHECK_CODE(code(absl::OkStatus(), spec, seeds), absl::StatusCode::kDataLoss);
  CHECK(code(absent, spec, {3, 100}) ==
        absl::InvalidArgumentError("seed 100 is not among the 100 nodes of type node"));
  VICINITY_CHECK_CODE(code(absent, Spec(0, 1e-3, 5), seeds), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

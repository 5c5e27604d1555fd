#include "client/negatives/negative_sampler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/shards/cancellation.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "tests/client/routed_graph.h"
#include "tests/sampler/chi_square.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::ChiSquare;
using testing::ChiSquareLimit;
using testing::MemoryGraph;
using testing::RoutedGraph;

constexpr EdgeTypeId kBuys{0};

NegativeOptions Options(NegativeMode mode, double amount, bool exact = true,
                        double degree_power = 0) {
  NegativeOptions options;
  options.mode = mode;
  options.amount = amount;
  options.exact = exact;
  options.degree_power = degree_power;
  return options;
}

std::unique_ptr<NegativeSampler> Make(const RoutedGraph& graph, EdgeTypeId type,
                                      const NegativeOptions& options,
                                      const NegativeWeights& weights = {}) {
  absl::StatusOr<std::unique_ptr<NegativeSampler>> sampler =
      NegativeSampler::Make(graph.router(), type, options, weights);
  VICINITY_REQUIRE_OK(sampler.status());
  return *std::move(sampler);
}

// One node type whose nodes have these edges.
MemoryGraph GraphOf(int64_t num_nodes, const std::vector<std::pair<int64_t, int64_t>>& edges) {
  testing::RandomGraphOptions options;
  options.num_nodes = num_nodes;
  options.num_edges = 0;
  MemoryGraph graph = testing::RandomGraph(options);
  for (const auto& [source, target] : edges) {
    graph.edges[0].sources.push_back(source);
    graph.edges[0].targets.push_back(target);
  }
  return graph;
}

// The pairs of a batch as positions in the user's order, by which no cut shows.
using Pair = std::pair<int64_t, int64_t>;
std::vector<Pair> Positions(const RoutedGraph& graph, EdgeTypeId edge_type,
                            const std::vector<int64_t>& source_positions,
                            const NegativeOptions& options, const MinibatchDraw& draw,
                            const NegativeWeights& weights = {}) {
  const EdgeTypeSpec& spec = graph.router().schema().edge_types[edge_type.value];
  const NodeTypeId source_type{spec.source_type};
  const NodeTypeId target_type{spec.target_type};
  const std::vector<int64_t> ids = graph.GlobalIds(source_type);
  std::vector<int64_t> sources;
  for (const int64_t position : source_positions) sources.push_back(ids[position]);
  const std::unique_ptr<NegativeSampler> sampler = Make(graph, edge_type, options, weights);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<TypedSeeds> lists,
                                sampler->Draw(sources, draw, nullptr));
  const bool binary = options.mode == NegativeMode::kBinary;
  REQUIRE(lists.size() == (binary ? 2 : 1));
  CHECK(lists.back().type.value == target_type.value);
  if (binary) CHECK(lists.front().type.value == source_type.value);
  std::vector<Pair> pairs;
  for (size_t i = 0; i < lists.back().ids.size(); ++i) {
    const int64_t target =
        graph.placement().PositionOf(target_type, GlobalNode{lists.back().ids[i]});
    const auto each = static_cast<size_t>(options.amount);
    pairs.emplace_back(
        binary ? graph.placement().PositionOf(source_type, GlobalNode{lists.front().ids[i]})
               : source_positions[i / each],
        target);
  }
  return pairs;
}

std::set<Pair> EdgesOf(const MemoryGraph& graph, EdgeTypeId type) {
  std::set<Pair> edges;
  const testing::MemoryEdges& list = graph.edges[type.value];
  for (size_t i = 0; i < list.sources.size(); ++i) {
    edges.emplace(list.sources[i], list.targets[i]);
  }
  return edges;
}

TEST_CASE("no negative is an edge, and all are the same on any cut, near and far",
          "[negative_sampler]") {
  const auto mode = GENERATE(NegativeMode::kBinary, NegativeMode::kTriplet);
  const double degree_power = GENERATE(0.0, 0.75);
  const NegativeOptions options = Options(mode, 3, true, degree_power);
  // Integer ids on one side and names on the other; integers on both.
  const EdgeTypeId edge_type{GENERATE(0, 3)};
  const std::vector<int64_t> sources = {0, 7, 7, 19, 3};
  const MinibatchDraw draw{5, 1, 9};
  std::vector<Pair> first;
  for (const int32_t num_shards : {1, 2, 4, 8}) {
    const RoutedGraph graph(testing::TypedGraph(25, 20, 4, 6), num_shards, {1, 3});
    const std::vector<Pair> pairs = Positions(graph, edge_type, sources, options, draw);
    CHECK(pairs.size() == 15);
    const std::set<Pair> edges = EdgesOf(graph.graph(), edge_type);
    for (const Pair& pair : pairs) CHECK(edges.count(pair) == 0);
    if (first.empty()) first = pairs;
    CHECK(pairs == first);
    CHECK(Positions(graph, edge_type, sources, options, draw) == first);
    CHECK(Positions(graph, edge_type, sources, options, {5, 1, 10}) != first);
    CHECK(Positions(graph, edge_type, sources, options, {5, 2, 9}) != first);
    CHECK(Positions(graph, edge_type, sources, options, {6, 1, 9}) != first);
  }
}

// How often each pair came in a million draws, by source * num_nodes + target.
std::vector<int64_t> Count(const RoutedGraph& graph, const std::vector<int64_t>& sources,
                           const NegativeOptions& options, int64_t num_nodes,
                           const NegativeWeights& weights = {}) {
  const std::unique_ptr<NegativeSampler> sampler = Make(graph, EdgeTypeId{0}, options, weights);
  const std::vector<int64_t> ids = graph.GlobalIds({0});
  const auto position = [&](int64_t id) { return graph.placement().PositionOf({0}, {id}); };
  std::vector<int64_t> many;
  for (int i = 0; i < 2000; ++i) {
    for (const int64_t source : sources) many.push_back(ids[source]);
  }
  std::vector<int64_t> counts(num_nodes * num_nodes);
  int64_t drawn = 0;
  for (uint64_t batch = 0; drawn < 1'000'000; ++batch) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<TypedSeeds> lists,
                                  sampler->Draw(many, {1, 0, batch}, nullptr));
    const std::vector<int64_t>& targets = lists.back().ids;
    const auto each = static_cast<size_t>(options.amount);
    for (size_t i = 0; i < targets.size(); ++i) {
      const int64_t source =
          options.mode == NegativeMode::kBinary ? lists.front().ids[i] : many[i / each];
      ++counts[position(source) * num_nodes + position(targets[i])];
    }
    drawn += static_cast<int64_t>(targets.size());
  }
  return counts;
}

// The statistic over the pairs with a chance, and its limit; ends the test if another pair came.
struct Fit {
  double statistic = 0;
  double limit = 0;
};
Fit FitOf(const std::vector<int64_t>& counts, const std::vector<double>& chances) {
  double all_chances = 0;
  int64_t drawn = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    all_chances += chances[i];
    drawn += counts[i];
    if (chances[i] == 0) REQUIRE(counts[i] == 0);
  }
  std::vector<int64_t> counted;
  std::vector<double> expected;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (chances[i] == 0) continue;
    counted.push_back(counts[i]);
    expected.push_back(static_cast<double>(drawn) * chances[i] / all_chances);
  }
  return {ChiSquare(counted, expected), ChiSquareLimit(static_cast<int64_t>(counted.size()) - 1)};
}

// Node 0 has edges to 1 .. 5 of 8 nodes, node 1 to all but 7, node 2 none.
MemoryGraph EightNodes() {
  return GraphOf(8, {{0, 1},
                     {0, 2},
                     {0, 3},
                     {0, 4},
                     {0, 5},
                     {1, 0},
                     {1, 1},
                     {1, 2},
                     {1, 3},
                     {1, 4},
                     {1, 5},
                     {1, 6},
                     {3, 7},
                     {4, 7},
                     {3, 6}});
}

TEST_CASE("every node that a source has no edge to is as likely", "[negative_sampler]") {
  const RoutedGraph graph(EightNodes(), 1);
  const std::set<Pair> edges = EdgesOf(graph.graph(), EdgeTypeId{0});
  const std::vector<int64_t> counts =
      Count(graph, {0, 1, 2}, Options(NegativeMode::kTriplet, 5), 8);
  for (int64_t source = 0; source < 3; ++source) {
    CAPTURE(source);
    const std::vector<int64_t> of_source(counts.begin() + source * 8,
                                         counts.begin() + source * 8 + 8);
    std::vector<double> chances(8);
    for (int64_t target = 0; target < 8; ++target) {
      chances[target] = edges.count({source, target}) > 0 ? 0 : 1;
    }
    if (source == 1) {
      CHECK(of_source[7] > 300'000);
      CHECK(std::count(of_source.begin(), of_source.end(), 0) == 7);
      continue;
    }
    const Fit fit = FitOf(of_source, chances);
    CHECK(fit.statistic < fit.limit);
    // The same test notices a chance that is a twentieth off.
    chances[7] *= 1.05;
    const Fit biased = FitOf(of_source, chances);
    CHECK(biased.statistic > biased.limit);
  }
}

TEST_CASE("every pair without an edge is as likely, where both ends are drawn",
          "[negative_sampler]") {
  const RoutedGraph graph(EightNodes(), 1);
  const std::set<Pair> edges = EdgesOf(graph.graph(), EdgeTypeId{0});
  const std::vector<int64_t> counts = Count(graph, {0, 1, 2}, Options(NegativeMode::kBinary, 1), 8);
  std::vector<double> chances(64, 1.0);
  for (const auto& [source, target] : edges) chances[source * 8 + target] = 0;
  const Fit fit = FitOf(counts, chances);
  CHECK(fit.statistic < fit.limit);
}

TEST_CASE("targets go by the power of their in-degree", "[negative_sampler]") {
  const RoutedGraph graph(EightNodes(), 1);
  const bool exact = GENERATE(true, false);
  const std::vector<int64_t> counts =
      Count(graph, {0}, Options(NegativeMode::kTriplet, 5, exact, 0.5), 8);
  const std::set<Pair> edges = EdgesOf(graph.graph(), EdgeTypeId{0});
  std::vector<double> chances(64);
  const auto lists = graph.graph().InEdgesOfAll(EdgeTypeId{0});
  for (int64_t target = 0; target < 8; ++target) {
    if (exact && edges.count({0, target}) > 0) continue;
    chances[target] = std::sqrt(static_cast<double>(lists[target].size()));
  }
  const Fit fit = FitOf(counts, chances);
  CHECK(fit.statistic < fit.limit);
  // By degree itself it would not fit.
  for (double& chance : chances) chance *= chance;
  const Fit biased = FitOf(counts, chances);
  CHECK(biased.statistic > biased.limit);
}

// By position, of EightNodes.
const std::vector<double> kWeights = {3, 1, 0, 2, 1, 1, 0.5, 4};

MemoryGraph WeightedNodes() {
  MemoryGraph graph = EightNodes();
  graph.schema.node_types[0].columns.push_back({"weight", DType::kFloat64, {}});
  graph.nodes[0].columns.emplace_back(reinterpret_cast<const char*>(kWeights.data()),
                                      kWeights.size() * sizeof(double));
  return graph;
}

TEST_CASE("targets go by their weights", "[negative_sampler]") {
  const RoutedGraph graph(WeightedNodes(), 1);
  NegativeOptions options = Options(NegativeMode::kTriplet, 5, GENERATE(true, false));
  NegativeWeights weights;
  if (GENERATE(true, false)) {
    options.weight_column = "weight";
  } else {
    weights.targets = kWeights;
  }
  const std::vector<int64_t> counts = Count(graph, {0}, options, 8, weights);
  const std::set<Pair> edges = EdgesOf(graph.graph(), EdgeTypeId{0});
  std::vector<double> chances(64);
  for (int64_t target = 0; target < 8; ++target) {
    if (!options.exact || edges.count({0, target}) == 0) chances[target] = kWeights[target];
  }
  const Fit fit = FitOf(counts, chances);
  CHECK(fit.statistic < fit.limit);
  // The same test notices a weight that is a twentieth off.
  chances[6] *= 1.05;
  const Fit biased = FitOf(counts, chances);
  CHECK(biased.statistic > biased.limit);
}

TEST_CASE("sources and targets of pairs go by weights of their own", "[negative_sampler]") {
  const RoutedGraph graph(WeightedNodes(), 1);
  const bool weighted_targets = GENERATE(true, false);
  NegativeOptions options = Options(NegativeMode::kBinary, 1);
  options.source_weight_column = "weight";
  NegativeWeights weights;
  if (weighted_targets) weights.targets = {1, 2, 3, 4, 0, 6, 7, 8};
  const std::vector<int64_t> counts = Count(graph, {0, 1, 2}, options, 8, weights);
  std::vector<double> chances;
  for (int64_t pair = 0; pair < 64; ++pair) {
    chances.push_back(kWeights[pair / 8] * (weighted_targets ? weights.targets[pair % 8] : 1));
  }
  for (const auto& [source, target] : EdgesOf(graph.graph(), EdgeTypeId{0})) {
    chances[source * 8 + target] = 0;
  }
  const Fit fit = FitOf(counts, chances);
  CHECK(fit.statistic < fit.limit);
  for (int64_t source = 0; source < 8; ++source) chances[source * 8 + 3] *= 1.05;
  const Fit biased = FitOf(counts, chances);
  CHECK(biased.statistic > biased.limit);
}

TEST_CASE("weighted negatives are the same on any cut, near and far", "[negative_sampler]") {
  const auto mode = GENERATE(NegativeMode::kBinary, NegativeMode::kTriplet);
  const bool column = GENERATE(true, false);
  // user:knows:user: ids that are integers, in another order than the keys.
  const EdgeTypeId knows{3};
  std::vector<double> weights(25);
  for (size_t i = 0; i < 25; ++i) weights[i] = static_cast<double>(i % 5) * 0.1;
  MemoryGraph typed = testing::TypedGraph(25, 20, 4, 6);
  typed.schema.node_types[0].columns.push_back({"weight", DType::kFloat64, {}});
  typed.nodes[0].columns.emplace_back(reinterpret_cast<const char*>(weights.data()),
                                      weights.size() * sizeof(double));
  NegativeOptions options = Options(mode, 3);
  if (column) options.weight_column = "weight";
  NegativeWeights given;
  if (!column) given.targets = weights;
  if (mode == NegativeMode::kBinary) options.source_weight_column = "weight";
  const std::set<Pair> edges = EdgesOf(typed, knows);
  std::vector<Pair> first;
  for (const int32_t num_shards : {1, 2, 4, 8}) {
    const RoutedGraph graph(typed, num_shards, {1, 3});
    const std::vector<Pair> pairs =
        Positions(graph, knows, {0, 7, 7, 19, 3}, options, {5, 1, 9}, given);
    CHECK(pairs.size() == 15);
    for (const Pair& pair : pairs) {
      CHECK(edges.count(pair) == 0);
      if (column) CHECK(weights[pair.second] > 0);
      if (mode == NegativeMode::kBinary) CHECK(weights[pair.first] > 0);
    }
    if (first.empty()) first = pairs;
    CHECK(pairs == first);
    CHECK(Positions(graph, knows, {0, 7, 7, 19, 3}, options, {5, 1, 10}, given) != first);
  }
}

TEST_CASE("what a target's chance goes by is said once", "[negative_sampler]") {
  const RoutedGraph graph(WeightedNodes(), 2);
  NegativeOptions options = Options(NegativeMode::kBinary, 1);
  options.weight_column = "weight";
  NegativeWeights weights;
  const auto problem = [&] { return NegativesProblem(options, weights); };
  CHECK(problem().empty());
  options.degree_power = 0.75;
  CHECK_THAT(problem(), Catch::Contains("degree_power 0.75") && Catch::Contains("column weight"));
  options.degree_power = 0;
  weights.targets = kWeights;
  CHECK_THAT(problem(), Catch::Contains("column weight"));
  options.weight_column.clear();
  weights.sources = kWeights;
  CHECK(problem().empty());
  options.source_weight_column = "weight";
  CHECK_THAT(problem(), Catch::Contains("source_weight_column weight"));
  weights.sources.clear();
  options.mode = NegativeMode::kTriplet;
  CHECK_THAT(problem(), Catch::Contains("triplets"));
  VICINITY_CHECK_CODE(NegativeSampler::Make(graph.router(), EdgeTypeId{0}, options).status(),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a node whose every target of weight has an edge has no negative", "[negative_sampler]") {
  const RoutedGraph graph(EightNodes(), 1);
  NegativeOptions options = Options(NegativeMode::kTriplet, 2);
  NegativeWeights weights;
  weights.targets = {0, 1, 1, 0, 0, 0, 0, 0};  // both are neighbours of node 0
  const absl::Status none = Make(graph, EdgeTypeId{0}, options, weights)
                                ->Draw({graph.GlobalIds({0})[0]}, {}, nullptr)
                                .status();
  VICINITY_CHECK_CODE(none, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(none.message()), Catch::Contains("those with a weight above 0"));
}

// All of 60 nodes but three: most tries end without a negative, and all nodes are gone through.
TEST_CASE("a node with nearly all others for its neighbours has exact negatives",
          "[negative_sampler]") {
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t target = 0; target < 60; ++target) {
    if (target != 11 && target != 12 && target != 40) edges.emplace_back(0, target);
    // In-degrees of the three: 1, 2 and 4, which are what counts below.
    if (target == 11) edges.emplace_back(1, target);
    for (int64_t source = 1; target == 12 && source < 3; ++source) {
      edges.emplace_back(source, target);
    }
    for (int64_t source = 1; target == 40 && source < 5; ++source) {
      edges.emplace_back(source, target);
    }
  }
  const RoutedGraph graph(GraphOf(60, edges), 1);
  const double degree_power = GENERATE(0.0, 1.0);
  const std::unique_ptr<NegativeSampler> sampler =
      Make(graph, EdgeTypeId{0}, Options(NegativeMode::kTriplet, 50, true, degree_power));
  std::vector<int64_t> counts(60);
  for (uint64_t batch = 0; batch < 40; ++batch) {
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const std::vector<TypedSeeds> lists,
        sampler->Draw(std::vector<int64_t>(20, graph.GlobalIds({0})[0]), {3, 0, batch}, nullptr));
    for (const int64_t target : lists.front().ids) {
      ++counts[graph.placement().PositionOf({0}, {target})];
    }
  }
  std::vector<double> chances(60);
  chances[11] = 1;
  chances[12] = std::pow(2, degree_power);
  chances[40] = std::pow(4, degree_power);
  const Fit fit = FitOf(counts, chances);
  CHECK(fit.statistic < fit.limit);
}

TEST_CASE("a node that has no negative is named", "[negative_sampler]") {
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t target = 0; target < 9; ++target) edges.emplace_back(4, target);
  const RoutedGraph graph(GraphOf(9, edges), 1);
  const std::unique_ptr<NegativeSampler> triplets =
      Make(graph, EdgeTypeId{0}, Options(NegativeMode::kTriplet, 2));
  const std::vector<int64_t> ids = graph.GlobalIds({0});
  VICINITY_CHECK_OK(triplets->Draw({ids[0], ids[1]}, {}, nullptr).status());
  const absl::Status none = triplets->Draw({ids[0], ids[4]}, {}, nullptr).status();
  VICINITY_CHECK_CODE(none, absl::StatusCode::kFailedPrecondition);
  CHECK(none.message().find("node " + std::to_string(ids[4]) + " ") != std::string::npos);
  CHECK(none.message().find("node:links:node") != std::string::npos);
  // As pairs are drawn there are some: of other sources.
  const std::vector<Pair> pairs =
      Positions(graph, EdgeTypeId{0}, {4, 4, 4}, Options(NegativeMode::kBinary, 5), {});
  CHECK(pairs.size() == 15);
  for (const Pair& pair : pairs) CHECK(pair.first != 4);
  const std::unique_ptr<NegativeSampler> any =
      Make(graph, EdgeTypeId{0}, Options(NegativeMode::kTriplet, 2, false));
  VICINITY_CHECK_OK(any->Draw({ids[4]}, {}, nullptr).status());

  for (int64_t source = 0; source < 9; ++source) {
    for (int64_t target = 0; target < 9; ++target) edges.emplace_back(source, target);
  }
  const RoutedGraph complete(GraphOf(9, edges), 2);
  VICINITY_CHECK_CODE(Make(complete, EdgeTypeId{0}, Options(NegativeMode::kBinary, 1))
                          ->Draw({0}, {}, nullptr)
                          .status(),
                      absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a batch has as many negatives as the options say", "[negative_sampler]") {
  const RoutedGraph graph(testing::TypedGraph(25, 20, 4, 6), 2);
  const auto count = [&](const NegativeOptions& options, size_t num_links) {
    const std::vector<int64_t> sources(num_links, 1);
    absl::StatusOr<std::vector<TypedSeeds>> lists =
        Make(graph, kBuys, options)->Draw(sources, {}, nullptr);
    VICINITY_REQUIRE_OK(lists.status());
    return lists->back().ids.size();
  };
  CHECK(count(Options(NegativeMode::kTriplet, 4), 7) == 28);
  CHECK(count(Options(NegativeMode::kBinary, 0.5), 7) == 4);
  CHECK(count(Options(NegativeMode::kBinary, 2), 7) == 14);
  CHECK(count(Options(NegativeMode::kTriplet, 4), 0) == 0);
}

TEST_CASE("options that make no sense are refused with their value", "[negative_sampler]") {
  const RoutedGraph graph(testing::TypedGraph(25, 20, 4, 6), 2);
  const auto refusal = [&](const NegativeOptions& options, EdgeTypeId type = kBuys) {
    const absl::Status status = NegativeSampler::Make(graph.router(), type, options).status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  CHECK(refusal(Options(NegativeMode::kTriplet, 1.5)).find("1.5") != std::string::npos);
  CHECK(refusal(Options(NegativeMode::kBinary, 0)).find("amount 0") != std::string::npos);
  refusal(Options(NegativeMode::kBinary, -1));
  refusal(Options(NegativeMode::kBinary, std::nan("")));
  refusal(Options(NegativeMode::kBinary, 1e300));
  refusal(Options(NegativeMode::kBinary, 1, true, -0.5));
  refusal(Options(NegativeMode::kBinary, 1, true, std::nan("")));
  // tag:of:user has no edges.
  CHECK(refusal(Options(NegativeMode::kBinary, 1, true, 1), EdgeTypeId{4}).find("by degree") !=
        std::string::npos);
}

TEST_CASE("a cancelled loader draws no negatives", "[negative_sampler]") {
  const RoutedGraph graph(testing::TypedGraph(25, 20, 4, 6), 2);
  Cancellation cancel;
  cancel.Cancel();
  VICINITY_CHECK_CODE(
      Make(graph, kBuys, Options(NegativeMode::kTriplet, 1))->Draw({0}, {}, &cancel).status(),
      absl::StatusCode::kCancelled);
}

TEST_CASE("a shard that is away is an error, not a pair that may be an edge",
          "[negative_sampler]") {
  RoutedGraph graph(testing::TypedGraph(25, 20, 4, 6), 2, {0, 1});
  const std::unique_ptr<NegativeSampler> sampler =
      Make(graph, kBuys, Options(NegativeMode::kTriplet, 9));
  graph.faults()->fail_after = graph.faults()->calls.load();
  VICINITY_CHECK_CODE(sampler->Draw({0}, {}, nullptr).status(), absl::StatusCode::kUnavailable);
}

// Labels are of positions, here position % 4.
MemoryGraph WithGroups(int64_t num_nodes, const std::vector<std::pair<int64_t, int64_t>>& edges) {
  MemoryGraph graph = GraphOf(num_nodes, edges);
  std::string& labels = graph.nodes[0].columns[graph.schema.node_types[0].FindColumn("label")];
  for (int32_t i = 0; i < num_nodes; ++i) {
    const int32_t label = i % 4;
    labels.replace(i * sizeof(label), sizeof(label), reinterpret_cast<const char*>(&label),
                   sizeof(label));
  }
  return graph;
}

// Positions of the negatives of links 0 -> each of these.
std::vector<int64_t> Conditional(const RoutedGraph& graph, const NegativeOptions& options,
                                 const std::vector<int64_t>& link_targets, uint64_t batch,
                                 absl::Status* status) {
  const std::vector<int64_t> ids = graph.GlobalIds({0});
  std::vector<int64_t> targets;
  for (const int64_t position : link_targets) targets.push_back(ids[position]);
  const std::vector<int64_t> sources(targets.size(), ids[0]);
  absl::StatusOr<std::unique_ptr<NegativeSampler>> sampler = NegativeSampler::Make(
      graph.router(), EdgeTypeId{0}, options, {}, {{"label", 0.5}, {"split", 0.25}});
  VICINITY_REQUIRE_OK(sampler.status());
  const auto lists = (*sampler)->Draw(sources, {1, 0, batch}, nullptr, targets);
  *status = lists.status();
  std::vector<int64_t> positions;
  if (!lists.ok()) return positions;
  for (const int64_t node : lists->front().ids) {
    positions.push_back(graph.placement().PositionOf({0}, {node}));
  }
  return positions;
}

TEST_CASE("conditional negatives share the value of their link's target, each as likely",
          "[negative_sampler]") {
  // Of 40 nodes those that end in an edge from node 0 are 4 and 8, both of group 0.
  const MemoryGraph memory = WithGroups(40, {{0, 4}, {0, 8}, {3, 5}});
  const NegativeOptions options = Options(NegativeMode::kTriplet, 4);
  std::vector<int64_t> counts(40);
  std::vector<int64_t> first;
  for (const int32_t num_shards : {1, 3}) {
    const RoutedGraph graph(memory, num_shards, {0});
    absl::Status status;
    for (uint64_t batch = 0; batch < 40; ++batch) {
      const std::vector<int64_t> drawn =
          Conditional(graph, options, std::vector<int64_t>(250, 4), batch, &status);
      VICINITY_REQUIRE_OK(status);
      REQUIRE(drawn.size() == 1000);
      for (size_t i = 0; i < drawn.size(); i += 4) {
        CHECK(drawn[i] % 4 == 0);
        CHECK(drawn[i + 1] % 4 == 0);
        ++counts[drawn[i]];
        ++counts[drawn[i + 1]];
      }
      if (batch > 0) continue;
      if (first.empty()) first = drawn;
      CHECK(drawn == first);
    }
  }
  std::vector<int64_t> possible;
  int64_t all = 0;
  for (int64_t position = 0; position < 40; ++position) {
    const bool is_possible = position % 4 == 0 && position != 4 && position != 8;
    if (!is_possible) CHECK(counts[position] == 0);
    if (!is_possible) continue;
    possible.push_back(counts[position]);
    all += counts[position];
  }
  const std::vector<double> expected(
      possible.size(), static_cast<double>(all) / static_cast<double>(possible.size()));
  CHECK(ChiSquare(possible, expected) < ChiSquareLimit(static_cast<int64_t>(possible.size()) - 1));
}

TEST_CASE("where edges join a node to nearly all of a value, what is left is found, or named",
          "[negative_sampler]") {
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t target = 1; target < 200; target += 4) edges.emplace_back(0, target);
  absl::Status status;
  const NegativeOptions options = Options(NegativeMode::kTriplet, 4);
  const std::vector<std::pair<int64_t, int64_t>> but_one(edges.begin(), edges.end() - 1);
  const RoutedGraph graph(WithGroups(200, but_one), 2);
  const std::vector<int64_t> drawn = Conditional(graph, options, {1}, 0, &status);
  VICINITY_REQUIRE_OK(status);
  CHECK(drawn[0] == 197);  // of the group the only one without an edge
  CHECK(drawn[1] == 197);
  const RoutedGraph full(WithGroups(200, edges), 2);
  CHECK(Conditional(full, options, {1}, 0, &status).empty());
  VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
  CHECK(std::string(status.message()).find("50 nodes of node that share a value") !=
        std::string::npos);
}

TEST_CASE("shares that are none, and links without targets, are refused", "[negative_sampler]") {
  const RoutedGraph graph(testing::RandomGraph({}), 1);
  const auto made = [&](NegativeMode mode, const std::vector<SameValue>& same) {
    return NegativeSampler::Make(graph.router(), EdgeTypeId{0}, Options(mode, 4), {}, same)
        .status();
  };
  const auto triplet = NegativeMode::kTriplet;
  VICINITY_CHECK_CODE(made(NegativeMode::kBinary, {{"label", 0.5}}),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(made(triplet, {{"label", 0}}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(made(triplet, {{"label", 0.75}, {"split", 0.5}}),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(made(triplet, {{"year", 0.5}}), absl::StatusCode::kNotFound);
  absl::StatusOr<std::unique_ptr<NegativeSampler>> sampler =
      NegativeSampler::Make(graph.router(), EdgeTypeId{0}, Options(triplet, 4), {}, {{"label", 1}});
  VICINITY_REQUIRE_OK(sampler.status());
  VICINITY_CHECK_CODE((*sampler)->Draw({0, 1}, {}, nullptr).status(),
                      absl::StatusCode::kInvalidArgument);
}

NegativeOptions Shared(double amount) {
  NegativeOptions options = Options(NegativeMode::kTriplet, amount);
  options.shared = true;
  return options;
}

NegativeOptions InBatch(double amount, bool exact = true) {
  NegativeOptions options = Options(NegativeMode::kTriplet, amount, exact);
  options.in_batch = true;
  return options;
}

// Of each link the positions of its negatives.
std::vector<std::vector<int64_t>> NegativesOf(const RoutedGraph& graph,
                                              const std::vector<Pair>& links,
                                              const NegativeOptions& options, uint64_t batch) {
  const std::vector<int64_t> ids = graph.GlobalIds({0});
  std::vector<int64_t> sources;
  std::vector<int64_t> targets;
  for (const auto& [source, target] : links) {
    sources.push_back(ids[source]);
    targets.push_back(ids[target]);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const std::vector<TypedSeeds> lists,
      Make(graph, EdgeTypeId{0}, options)->Draw(sources, {1, 0, batch}, nullptr, targets));
  REQUIRE(lists.size() == 1);
  const auto each = static_cast<size_t>(options.amount);
  REQUIRE(lists[0].ids.size() == links.size() * each);
  std::vector<std::vector<int64_t>> of_links(links.size());
  for (size_t i = 0; i < lists[0].ids.size(); ++i) {
    of_links[i / each].push_back(graph.placement().PositionOf({0}, {lists[0].ids[i]}));
  }
  return of_links;
}

// Of EightNodes. Three of them are no edges: they were held out.
const std::vector<Pair> kLinks = {{0, 1}, {2, 6}, {3, 7}, {4, 6}, {5, 0}, {1, 3}};

TEST_CASE("shared negatives are the same for all links but those that have an edge to them",
          "[negative_sampler]") {
  const bool in_batch = GENERATE(false, true);
  NegativeOptions options = Shared(40);
  options.in_batch = in_batch;
  std::vector<std::vector<int64_t>> first;
  for (const int32_t num_shards : {1, 2, 4}) {
    const RoutedGraph graph(EightNodes(), num_shards, {0});
    const std::set<Pair> edges = EdgesOf(graph.graph(), EdgeTypeId{0});
    std::vector<Pair> links = kLinks;
    if (in_batch) links.insert(links.end(), {{2, 1}, {6, 5}});
    const std::vector<std::vector<int64_t>> drawn = NegativesOf(graph, links, options, 3);
    const auto is_out = [&](int64_t source, int64_t target) {
      const bool is_link = std::count(links.begin(), links.end(), Pair(source, target)) > 0;
      return edges.count({source, target}) > 0 || (in_batch && is_link);
    };
    int64_t parted = 0;
    for (size_t a = 0; a < links.size(); ++a) {
      for (size_t b = 0; b < links.size(); ++b) {
        for (size_t k = 0; k < 40; ++k) {
          CHECK_FALSE(is_out(links[a].first, drawn[a][k]));
          if (drawn[a][k] == drawn[b][k]) continue;
          ++parted;
          const bool has_reason =
              is_out(links[a].first, drawn[b][k]) || is_out(links[b].first, drawn[a][k]);
          CHECK(has_reason);
        }
      }
    }
    CHECK(parted > 0);
    if (first.empty()) first = drawn;
    CHECK(drawn == first);
    CHECK(NegativesOf(graph, links, options, 4) != first);
  }
}

TEST_CASE("a link's shared negatives have the chances of its own", "[negative_sampler]") {
  const RoutedGraph graph(EightNodes(), 1);
  const std::set<Pair> edges = EdgesOf(graph.graph(), EdgeTypeId{0});
  const std::vector<Pair> links = {{0, 1}, {2, 6}, {1, 3}, {3, 7}};
  std::vector<std::vector<int64_t>> counts(links.size(), std::vector<int64_t>(8));
  // Those of one link are independent of each other: a million of each.
  for (uint64_t batch = 0; batch < 50; ++batch) {
    const auto drawn = NegativesOf(graph, links, Shared(20'000), batch);
    for (size_t link = 0; link < links.size(); ++link) {
      for (const int64_t target : drawn[link]) ++counts[link][target];
    }
  }
  CHECK(counts[2][7] == 1'000'000);
  for (const size_t link : {0, 1, 3}) {
    std::vector<double> chances(8);
    for (int64_t target = 0; target < 8; ++target) {
      chances[target] = edges.count({links[link].first, target}) > 0 ? 0 : 1;
    }
    const Fit fit = FitOf(counts[link], chances);
    CHECK(fit.statistic < fit.limit);
    chances[0] *= 1.05;
    const Fit biased = FitOf(counts[link], chances);
    CHECK(biased.statistic > biased.limit);
  }
}

TEST_CASE("a batch that shares its negatives, or has its own, brings fewer nodes",
          "[negative_sampler]") {
  std::vector<Pair> links;
  for (int64_t i = 0; i < 100; ++i) links.emplace_back(i, i + 200);
  const RoutedGraph graph(GraphOf(500, links), 2);
  const auto num_nodes = [&](const NegativeOptions& options) {
    std::set<int64_t> nodes;
    for (const auto& [source, target] : links) nodes.insert({source, target});
    for (const auto& of_link : NegativesOf(graph, links, options, 0)) {
      nodes.insert(of_link.begin(), of_link.end());
    }
    return nodes.size();
  };
  CHECK(num_nodes(Options(NegativeMode::kTriplet, 5)) > 350);
  const size_t of_shared = num_nodes(Shared(5));
  CHECK(of_shared > 200);
  CHECK(of_shared < 210);
  CHECK(num_nodes(InBatch(5)) == 200);
}

TEST_CASE("links whose targets share a value share their conditional negatives",
          "[negative_sampler]") {
  NegativeOptions options = Shared(4);
  const RoutedGraph graph(WithGroups(200, {{0, 3}}), 2);
  absl::Status status;
  const std::vector<int64_t> drawn = Conditional(graph, options, {1, 5, 2, 9}, 0, &status);
  VICINITY_REQUIRE_OK(status);
  for (size_t k = 0; k < 2; ++k) {
    CHECK(drawn[k] % 4 == 1);
    CHECK(drawn[4 + k] == drawn[k]);
    CHECK(drawn[8 + k] % 4 == 2);
    CHECK(drawn[12 + k] == drawn[k]);
  }
  CHECK(drawn[7] == drawn[3]);
  CHECK(drawn[11] == drawn[3]);
}

TEST_CASE("negatives of the batch are the other links' targets, each as likely, and no edges",
          "[negative_sampler]") {
  const RoutedGraph graph(EightNodes(), 1);
  const bool exact = GENERATE(true, false);
  const std::set<Pair> edges = EdgesOf(graph.graph(), EdgeTypeId{0});
  std::vector<std::vector<int64_t>> counts(kLinks.size(), std::vector<int64_t>(8));
  for (uint64_t batch = 0; batch < 50; ++batch) {
    const auto drawn = NegativesOf(graph, kLinks, InBatch(20'000, exact), batch);
    for (size_t link = 0; link < kLinks.size(); ++link) {
      for (const int64_t target : drawn[link]) ++counts[link][target];
    }
  }
  for (size_t link = 0; link < kLinks.size(); ++link) {
    CAPTURE(link);
    const int64_t source = kLinks[link].first;
    std::vector<double> chances(8);
    for (const auto& [other, target] : kLinks) {
      const bool is_link = std::count(kLinks.begin(), kLinks.end(), Pair(source, target)) > 0;
      if (!is_link && (!exact || edges.count({source, target}) == 0)) chances[target] += 1;
    }
    if (source == 1 && exact) {  // it has edges to all but 7
      CHECK(counts[link][7] == 1'000'000);
      continue;
    }
    const Fit fit = FitOf(counts[link], chances);
    CHECK(fit.statistic < fit.limit);
    if (chances[6] == 0) continue;
    chances[6] = 1;  // two links have it
    const Fit biased = FitOf(counts[link], chances);
    CHECK(biased.statistic > biased.limit);
  }
}

TEST_CASE("negatives of the batch are the same on any cut, near and far", "[negative_sampler]") {
  std::vector<std::vector<int64_t>> first;
  for (const int32_t num_shards : {1, 2, 4}) {
    const RoutedGraph graph(EightNodes(), num_shards, {0});
    const auto drawn = NegativesOf(graph, kLinks, InBatch(9), 2);
    if (first.empty()) first = drawn;
    CHECK(drawn == first);
    CHECK(NegativesOf(graph, kLinks, InBatch(9), 3) != first);
  }
}

TEST_CASE("a link that no other of its batch gives a negative has those of the whole graph",
          "[negative_sampler]") {
  const RoutedGraph graph(EightNodes(), 2);
  const auto alone = NegativesOf(graph, {{0, 1}}, InBatch(200), 0);
  CHECK(std::set<int64_t>(alone[0].begin(), alone[0].end()) == std::set<int64_t>{0, 6, 7});
  const auto any = NegativesOf(graph, {{0, 1}}, InBatch(200, false), 0);
  CHECK(std::set<int64_t>(any[0].begin(), any[0].end()) == std::set<int64_t>{0, 2, 3, 4, 5, 6, 7});
  // Node 0 has edges to 1 and 2: its link has none here, the other has one.
  const auto both = NegativesOf(graph, {{0, 1}, {2, 2}}, InBatch(50), 0);
  for (const int64_t target : both[0]) CHECK((target == 0 || target >= 6));
  CHECK(std::count(both[1].begin(), both[1].end(), 1) == 50);
  CHECK(NegativesOf(graph, {}, InBatch(3), 0).empty());
  std::vector<Pair> edges;
  for (int64_t target = 0; target < 9; ++target) edges.emplace_back(0, target);
  const RoutedGraph full(GraphOf(9, edges), 2);
  const std::vector<int64_t> ids = full.GlobalIds({0});
  VICINITY_CHECK_CODE(
      Make(full, EdgeTypeId{0}, InBatch(2))->Draw({ids[0]}, {}, nullptr, {ids[1]}).status(),
      absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("negatives are shared, or of the batch, of triplets alone, and go by nothing else",
          "[negative_sampler]") {
  NegativeOptions options = InBatch(2);
  CHECK(NegativesProblem(options).empty());
  options.shared = true;
  CHECK(NegativesProblem(options).empty());
  options.degree_power = 0.75;
  CHECK_THAT(NegativesProblem(options), Catch::Contains("in_batch and by negatives.degree_power"));
  options = InBatch(2);
  options.weight_column = "weight";
  CHECK_THAT(NegativesProblem(options), Catch::Contains("weight_column weight"));
  options = Options(NegativeMode::kBinary, 2);
  options.shared = true;
  CHECK_THAT(NegativesProblem(options), Catch::Contains("negatives.shared is of mode triplet"));
  options.shared = false;
  options.in_batch = true;
  CHECK_THAT(NegativesProblem(options), Catch::Contains("negatives.in_batch is of mode triplet"));
  const RoutedGraph graph(testing::RandomGraph({}), 1);
  const absl::Status same =
      NegativeSampler::Make(graph.router(), EdgeTypeId{0}, InBatch(4), {}, {{"label", 0.5}})
          .status();
  VICINITY_CHECK_CODE(same, absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(
      Make(graph, EdgeTypeId{0}, InBatch(2))->Draw({0, 1}, {}, nullptr, {0}).status(),
      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("shares of equal values are read as loaders have them", "[negative_sampler]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<SameValue> none, ParseSame(" "));
  CHECK(none.empty());
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<SameValue> two,
                                ParseSame("topic=0.5, two words =  25e-2"));
  REQUIRE(two.size() == 2);
  CHECK(two[0].column == "topic");
  CHECK(two[0].share == 0.5);
  CHECK(two[1].column == "two words");
  CHECK(two[1].share == 0.25);
  const std::string wrong =
      GENERATE("topic", "topic=", "=0.5", "topic=half", "a=1=1", "a=0.5;b=0.5");
  VICINITY_CHECK_CODE(ParseSame(wrong).status(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

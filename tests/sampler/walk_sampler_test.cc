#include "sampler/walk_sampler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/random.h"
#include "sampler/edge_finder.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/one_hop.h"
#include "sampler/walk_spec.h"
#include "tests/sampler/chi_square.h"
#include "tests/sampler/stored_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::ChiSquare;
using testing::ChiSquareLimit;
using testing::InEdge;
using testing::MemoryGraph;
using testing::Stored;

constexpr MinibatchDraw kDraw{7, 2, 5};

// Which edges there are, by brute force.
class MemoryFinder : public EdgeFinder {
 public:
  MemoryFinder(const MemoryGraph& graph, const Stored& stored) : graph_(graph), stored_(stored) {}

  absl::Status FindEdges(EdgeTypeId edge_type, absl::Span<const int64_t> sources,
                         absl::Span<const int64_t> targets, std::vector<bool>* joined) override {
    const testing::MemoryEdges& edges = graph_.edges[edge_type.value];
    const EdgeTypeSpec& type = graph_.schema.edge_types[edge_type.value];
    std::set<std::pair<int64_t, int64_t>> pairs;
    for (size_t e = 0; e < edges.sources.size(); ++e) {
      pairs.insert({edges.sources[e], edges.targets[e]});
    }
    joined->clear();
    for (size_t i = 0; i < sources.size(); ++i) {
      joined->push_back(pairs.count({stored_.PositionOf(type.source_type, sources[i]),
                                     stored_.PositionOf(type.target_type, targets[i])}) > 0);
    }
    return absl::OkStatus();
  }

 private:
  const MemoryGraph& graph_;
  const Stored& stored_;
};

// From positions; what it gives has positions, too.
absl::StatusOr<Walks> Walk(const MemoryGraph& graph, const Stored& stored, const WalkSpec& spec,
                           const std::vector<int64_t>& starts, const MinibatchDraw& draw = kDraw) {
  LocalNeighborSource source(stored.dataset(), draw);
  MemoryFinder finder(graph, stored);
  WalkSampler sampler(graph.schema, stored.dataset().book(), draw, &source, &finder);
  absl::StatusOr<Walks> walks = sampler.Walk(
      spec, stored.Ids(NodeTypeOfWalk(graph.schema, spec, 0), starts), /*want_edge_ids=*/true);
  if (!walks.ok()) return walks;
  for (size_t i = 0; i < walks->nodes.size(); ++i) {
    if (walks->nodes[i] < 0) continue;
    const auto step = static_cast<int64_t>(i % (walks->length + 1));
    walks->nodes[i] = stored.PositionOf(NodeTypeOfWalk(graph.schema, spec, step), walks->nodes[i]);
  }
  return walks;
}

std::vector<int64_t> AllNodes(const MemoryGraph& graph, int32_t type, int repeats = 1) {
  std::vector<int64_t> nodes;
  for (int r = 0; r < repeats; ++r) {
    for (int64_t node = 0; node < graph.num_nodes({type}); ++node) nodes.push_back(node);
  }
  return nodes;
}

WalkSpec Spec(std::vector<int32_t> metapath, int64_t length) {
  WalkSpec spec;
  spec.metapath = std::move(metapath);
  spec.length = length;
  return spec;
}

float WeightOf(const MemoryGraph& graph, int64_t edge_id) {
  const EdgeTypeSpec& type = graph.schema.edge_types[0];
  float weight = 0;
  std::memcpy(&weight, graph.edge_row({0}, type.FindColumn(type.weight_column), edge_id).data(),
              sizeof(weight));
  return weight;
}

// Each step takes an edge that there is; a walk ends only where there is none.
void CheckSteps(const MemoryGraph& graph, const WalkSpec& spec, const Walks& walks) {
  for (int64_t walk = 0; walk < walks.num_walks(); ++walk) {
    const int64_t* const nodes = walks.nodes.data() + walk * (walks.length + 1);
    const int64_t* const edge_ids = walks.edge_ids.data() + walk * walks.length;
    for (int64_t step = 0; step < walks.length; ++step) {
      const int32_t type = EdgeTypeOfStep(spec, step);
      const testing::MemoryEdges& edges = graph.edges[type];
      INFO("walk " << walk << ", step " << step);
      if (edge_ids[step] >= 0) {
        REQUIRE(nodes[step] == edges.targets[edge_ids[step]]);
        REQUIRE(nodes[step + 1] == edges.sources[edge_ids[step]]);
        continue;
      }
      REQUIRE(nodes[step + 1] == -1);
      if (nodes[step] < 0) continue;
      REQUIRE(std::count(edges.targets.begin(), edges.targets.end(), nodes[step]) == 0);
    }
  }
}

TEST_CASE("walks are the same in the user's order for 1, 2, 4 and 8 shards", "[walk_sampler]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 150;
  options.num_edges = 500;  // some nodes have no in-edges: walks end there
  options.weights = true;
  const bool typed = GENERATE(false, true);
  const MemoryGraph graph =
      typed ? testing::TypedGraph(80, 40, 20, 3) : testing::RandomGraph(options);
  std::vector<WalkSpec> specs;
  if (typed) {
    specs = {Spec({0, 1}, 5), Spec({3}, 4), Spec({2, 0, 3, 1}, 4)};
    specs[0].weighted_by = graph.schema.edge_types[0].weight_column;
    specs[0].restart_prob = 0.2;
  } else {
    specs = {Spec({0}, 6), Spec({0}, 6), Spec({0, 0}, 6)};
    specs[1].weighted_by = "weight";
    specs[1].p = 0.25;
    specs[1].q = 4;
    specs[2].p = 8;
    specs[2].q = 0.5;
  }
  const testing::TempDir dir;
  const Stored whole(graph, InUserOrder(graph), dir.File("whole"));
  for (const WalkSpec& spec : specs) {
    if (!WalkProblem(graph.schema, spec).empty()) FAIL(WalkProblem(graph.schema, spec));
    const std::vector<int64_t> starts =
        AllNodes(graph, NodeTypeOfWalk(graph.schema, spec, 0), /*repeats=*/3);
    VICINITY_ASSERT_OK_AND_ASSIGN(const Walks expected, Walk(graph, whole, spec, starts));
    REQUIRE(expected.num_walks() == static_cast<int64_t>(starts.size()));
    if (spec.restart_prob == 0 && spec.weighted_by.empty()) CheckSteps(graph, spec, expected);
    for (const int32_t shards : {2, 4, 8}) {
      const Stored cut(graph, Shuffled(graph, shards, 40 + shards),
                       dir.File(absl::StrCat(&spec - specs.data(), "of", shards)));
      VICINITY_ASSERT_OK_AND_ASSIGN(const Walks found, Walk(graph, cut, spec, starts));
      REQUIRE(found.nodes == expected.nodes);
      REQUIRE(found.edge_ids == expected.edge_ids);
    }
  }
}

TEST_CASE("another draw, and another place in the list, walk elsewhere", "[walk_sampler]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 40;
  options.num_edges = 800;
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  const std::vector<int64_t> starts(50, 3);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks walks, Walk(graph, stored, Spec({0}, 4), starts));
  std::set<std::vector<int64_t>> different;
  for (int64_t i = 0; i < walks.num_walks(); ++i) {
    different.insert({walks.nodes.begin() + i * 5, walks.nodes.begin() + (i + 1) * 5});
  }
  CHECK(different.size() > 45);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks other,
                                Walk(graph, stored, Spec({0}, 4), starts, {7, 2, 6}));
  CHECK(other.nodes != walks.nodes);
}

// Counts of steps by (previous node, node, where to), over walks from everywhere.
using Turns = std::map<std::pair<int64_t, int64_t>, std::map<int64_t, int64_t>>;

Turns CountTurns(const Walks& walks) {
  Turns turns;
  for (int64_t walk = 0; walk < walks.num_walks(); ++walk) {
    const int64_t* const nodes = walks.nodes.data() + walk * (walks.length + 1);
    for (int64_t step = 1; step < walks.length && nodes[step + 1] >= 0; ++step) {
      ++turns[{nodes[step - 1], nodes[step]}][nodes[step + 1]];
    }
  }
  return turns;
}

// By what factor the statistic is above its limit, at its worst over all turns that were made often
// enough; chances as the paper's, p and q given.
double WorstTurn(const MemoryGraph& graph, const Turns& turns, bool weighted, double p, double q) {
  const std::vector<std::vector<InEdge>> in_edges = graph.InEdgesOfAll({0});
  double worst = 0;
  for (const auto& [at, counted] : turns) {
    const auto& [from, node] = at;
    std::set<int64_t> near;
    for (const InEdge& edge : in_edges[from]) near.insert(edge.source);
    std::map<int64_t, double> chances;
    double sum = 0;
    for (const InEdge& edge : in_edges[node]) {
      double chance = weighted ? WeightOf(graph, edge.edge_id) : 1;
      if (edge.source == from) {
        chance /= p;
      } else if (near.count(edge.source) == 0) {
        chance /= q;
      }
      if (chance > 0) chances[edge.source] += chance;
      sum += chance;
    }
    int64_t total = 0;
    for (const auto& [to, count] : counted) {
      REQUIRE(chances.count(to) == 1);
      total += count;
    }
    std::vector<int64_t> counts;
    std::vector<double> expected;
    for (const auto& [to, chance] : chances) {
      const auto found = counted.find(to);
      counts.push_back(found == counted.end() ? 0 : found->second);
      expected.push_back(static_cast<double>(total) * chance / sum);
    }
    const double least = *std::min_element(expected.begin(), expected.end());
    if (counts.size() < 2 || least < 20) continue;
    const auto freedom = static_cast<int64_t>(counts.size()) - 1;
    worst = std::max(worst, ChiSquare(counts, expected) / ChiSquareLimit(freedom));
  }
  return worst;
}

TEST_CASE("turns have the chances of node2vec's paper, over a million of them", "[walk_sampler]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 9;
  options.num_edges = 45;  // with loops, doubles, and pairs joined one way alone
  options.weights = true;
  options.seed = 5;
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  const bool weighted = GENERATE(false, true);
  const auto [p, q] = GENERATE(std::pair{1.0, 1.0}, std::pair{0.25, 4.0}, std::pair{4.0, 0.5});
  WalkSpec spec = Spec({0}, 11);
  spec.weighted_by = weighted ? "weight" : "";
  spec.p = p;
  spec.q = q;
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks walks,
                                Walk(graph, stored, spec, AllNodes(graph, 0, /*repeats=*/13000)));
  const Turns turns = CountTurns(walks);
  int64_t total = 0;
  for (const auto& [at, counted] : turns) {
    for (const auto& [to, count] : counted) total += count;
  }
  CHECK(total > 1000000);
  CHECK(WorstTurn(graph, turns, weighted, p, q) < 1);
  // The test can tell: the same against other factors, or other weights.
  CHECK(WorstTurn(graph, turns, weighted, p * 1.2, q) > 1);
  CHECK(WorstTurn(graph, turns, weighted, p, q / 1.2) > 1);
}

TEST_CASE("a way back alone is taken however small its chance", "[walk_sampler]") {
  MemoryGraph graph = testing::RandomGraph({/*num_nodes=*/2, /*num_edges=*/2});
  graph.edges[0].sources = {0, 1};
  graph.edges[0].targets = {1, 0};
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  WalkSpec spec = Spec({0}, 5);
  spec.p = kMaxWalkBias;
  spec.q = 1 / kMaxWalkBias;
  const std::vector<int64_t> starts(200, 1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks walks, Walk(graph, stored, spec, starts));
  for (size_t i = 0; i < walks.nodes.size(); ++i) REQUIRE(walks.nodes[i] == ((i % 6 + 1) % 2));
}

TEST_CASE("restart_prob ends walks before any step, with that chance", "[walk_sampler]") {
  MemoryGraph graph = testing::RandomGraph({/*num_nodes=*/2, /*num_edges=*/2});
  graph.edges[0].sources = {0, 1};
  graph.edges[0].targets = {1, 0};
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  WalkSpec spec = Spec({0}, 8);
  spec.restart_prob = 0.3;
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks walks,
                                Walk(graph, stored, spec, AllNodes(graph, 0, /*repeats=*/100000)));
  std::vector<int64_t> counts(spec.length + 1);
  for (int64_t walk = 0; walk < walks.num_walks(); ++walk) {
    const int64_t* const nodes = walks.nodes.data() + walk * (walks.length + 1);
    ++counts[std::count_if(nodes, nodes + walks.length + 1, [](int64_t n) { return n >= 0; }) - 1];
  }
  const auto expected_for = [&](double chance) {
    std::vector<double> expected;
    for (int64_t steps = 0; steps <= spec.length; ++steps) {
      const double going_on = std::pow(1 - chance, static_cast<double>(steps));
      expected.push_back(static_cast<double>(walks.num_walks()) * going_on *
                         (steps == spec.length ? 1 : chance));
    }
    return expected;
  };
  CHECK(ChiSquare(counts, expected_for(0.3)) < ChiSquareLimit(spec.length));
  CHECK(ChiSquare(counts, expected_for(0.31)) > ChiSquareLimit(spec.length));
}

TEST_CASE("starts out of range, and too many of them, are named", "[walk_sampler]") {
  const MemoryGraph graph = testing::TypedGraph(20, 10, 5, 3);
  const Schema& schema = graph.schema;
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  const absl::Status outside = [&] {
    LocalNeighborSource source(stored.dataset(), kDraw);
    WalkSampler sampler(schema, stored.dataset().book(), kDraw, &source, nullptr);
    return sampler.Walk(Spec({3}, 3), {4, 20}, false).status();
  }();
  CHECK(outside == absl::InvalidArgumentError("start 20 is not among the 20 nodes of type user"));
  const absl::Status too_many = [&] {
    LocalNeighborSource source(stored.dataset(), kDraw);
    WalkSampler sampler(schema, stored.dataset().book(), kDraw, &source, nullptr);
    return sampler.Walk(Spec({3}, 16383), std::vector<int64_t>(8193, 1), false).status();
  }();
  CHECK(too_many == absl::InvalidArgumentError("8193 walks of 16383 steps are more than 134217728 "
                                               "nodes: ask for fewer at once"));
}

// Answers that no server should give.
class WrongSource : public NeighborSource {
 public:
  explicit WrongSource(Neighbors answer) : answer_(std::move(answer)) {}
  absl::Status Sample(int /*hop*/, absl::Span<const RelationRequest> /*relations*/,
                      absl::Span<Neighbors> neighbors) override {
    neighbors[0] = answer_;
    return absl::OkStatus();
  }
  absl::Status CountEdges(absl::Span<const RelationRequest> /*relations*/,
                          absl::Span<std::vector<int64_t>> /*degrees*/) override {
    return absl::OkStatus();
  }

 private:
  const Neighbors answer_;
};

TEST_CASE("answers that do not fit are errors", "[walk_sampler]") {
  const MemoryGraph graph = testing::TypedGraph(20, 10, 5, 3);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  const auto walk = [&](Neighbors answer) {
    WrongSource source(std::move(answer));
    WalkSampler sampler(graph.schema, stored.dataset().book(), kDraw, &source, nullptr);
    return sampler.Walk(Spec({3}, 1), {4, 5}, true).status();
  };
  CHECK(walk({{1, 1}, {3, 4}, {0, 1}, {}}).ok());
  CHECK(walk({{0, 0}, {}, {}, {}}).ok());
  CHECK(absl::IsInternal(walk({{1}, {3}, {0}, {}})));
  CHECK(absl::IsInternal(walk({{1, 1}, {3}, {0}, {}})));
  CHECK(absl::IsInternal(walk({{1, 1}, {3, 4}, {0}, {}})));
  CHECK(absl::IsInternal(walk({{2, 1}, {3, 4, 5}, {0, 1, 2}, {}})));
  CHECK(absl::IsDataLoss(walk({{1, 1}, {3, 20}, {0, 1}, {}})));
  CHECK(absl::IsDataLoss(walk({{1, 1}, {-1, 4}, {0, 1}, {}})));
}

}  // namespace
}  // namespace vicinity

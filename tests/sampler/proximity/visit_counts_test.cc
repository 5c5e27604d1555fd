#include "sampler/proximity/visit_counts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "partition/schema/schema.h"
#include "proto/common/random.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/walk_sampler.h"
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

VisitSpec Spec(std::vector<int32_t> metapath, int64_t length, int64_t num_walks, int64_t top) {
  VisitSpec spec;
  spec.walk.metapath = std::move(metapath);
  spec.walk.length = length;
  spec.num_walks = num_walks;
  spec.top = top;
  return spec;
}

Walks Rows(int64_t length, std::vector<int64_t> nodes) {
  Walks walks;
  walks.length = length;
  walks.nodes = std::move(nodes);
  return walks;
}

TEST_CASE("the most visited come first, of equals the one met first", "[visit_counts]") {
  const Schema schema = testing::RandomGraph({}).schema;
  const Walks walks = Rows(3, {5, 9, 7, 5,    // of 5: 9 once,
                               5, 8, 7, 9,    // 7 twice and 9 again, 5 and 8 once
                               2, 2, -1, -1,  // of 2: itself
                               2, -1, -1, -1});
  const TopVisited visited = CountVisits(schema, Spec({0}, 3, 2, 3), walks);
  CHECK(visited.top == 3);
  CHECK(visited.nodes == std::vector<int64_t>{9, 7, 5, 2, -1, -1});
  CHECK(visited.counts == std::vector<int64_t>{2, 2, 1, 1, 0, 0});
  VisitSpec spec = Spec({0}, 3, 2, 3);
  spec.exclude_start = true;
  const TopVisited others = CountVisits(schema, spec, walks);
  CHECK(others.nodes == std::vector<int64_t>{9, 7, 8, -1, -1, -1});
  CHECK(others.counts == std::vector<int64_t>{2, 2, 1, 0, 0, 0});
  CHECK(CountVisits(schema, spec, Rows(3, {})).nodes.empty());
}

TEST_CASE("nodes of one type count, wherever walks come to them", "[visit_counts]") {
  const Schema schema = testing::TypedGraph(20, 10, 5, 3).schema;
  // From a user to what it bought, and to who bought that.
  const Walks walks = Rows(4, {3, 6, 3, 6, 4,  //
                               3, 5, 9, 6, 4});
  VisitSpec spec = Spec({1, 0}, 4, 2, 4);
  CHECK(CountVisits(schema, spec, walks).nodes == std::vector<int64_t>{4, 3, 9, -1});
  spec.node_type = 1;
  const TopVisited items = CountVisits(schema, spec, walks);
  CHECK(items.nodes == std::vector<int64_t>{6, 5, -1, -1});
  CHECK(items.counts == std::vector<int64_t>{3, 1, 0, 0});
  // Item 3 is another node than user 3.
  spec.exclude_start = true;
  CHECK(CountVisits(schema, spec, Rows(4, {3, 3, 1, 3, 3, 3, -1, -1, -1, -1})).counts ==
        std::vector<int64_t>{2, 0, 0, 0});
}

absl::StatusOr<Walks> Walk(const MemoryGraph& graph, const Stored& stored, const VisitSpec& spec,
                           const std::vector<int64_t>& starts) {
  const MinibatchDraw draw{4, 1, 2};
  LocalNeighborSource source(stored.dataset(), draw);
  WalkSampler sampler(graph.schema, stored.dataset().book(), draw, &source, nullptr);
  return sampler.Walk(spec.walk, RepeatStarts(starts, spec.num_walks), false);
}

TEST_CASE("counts are those of a count by hand over drawn walks", "[visit_counts]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 60;
  options.num_edges = 150;
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  VisitSpec spec = Spec({0}, 5, 7, GENERATE(1, 4, 100));
  spec.walk.restart_prob = 0.1;
  spec.exclude_start = GENERATE(false, true);
  std::vector<int64_t> starts;
  for (int64_t node = 0; node < 60; ++node) starts.push_back(node);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks walks, Walk(graph, stored, spec, starts));
  const TopVisited visited = CountVisits(graph.schema, spec, walks);
  REQUIRE(visited.nodes.size() == starts.size() * spec.top);
  for (size_t s = 0; s < starts.size(); ++s) {
    struct Seen {
      int64_t count;
      int64_t first;
      int64_t node;
    };
    std::map<int64_t, Seen> seen;
    for (int64_t i = 0; i < 7 * 6; ++i) {
      const int64_t node = walks.nodes[s * 7 * 6 + i];
      if (i % 6 == 0 || node < 0 || (spec.exclude_start && node == starts[s])) continue;
      ++seen.try_emplace(node, Seen{0, i, node}).first->second.count;
    }
    std::vector<Seen> order;
    for (const auto& [node, each] : seen) order.push_back(each);
    std::sort(order.begin(), order.end(), [](const Seen& a, const Seen& b) {
      return a.count != b.count ? a.count > b.count : a.first < b.first;
    });
    order.resize(spec.top, Seen{0, 0, -1});
    for (int64_t i = 0; i < spec.top; ++i) {
      REQUIRE(visited.nodes[s * spec.top + i] == order[i].node);
      REQUIRE(visited.counts[s * spec.top + i] == order[i].count);
    }
  }
}

TEST_CASE("visits of the other side's other side have the chances of two steps", "[visit_counts]") {
  const MemoryGraph graph = testing::TypedGraph(12, 6, 3, 9);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  const std::vector<std::vector<InEdge>> to_users = graph.InEdgesOfAll({1});
  const std::vector<std::vector<InEdge>> to_items = graph.InEdgesOfAll({0});
  const VisitSpec spec = Spec({1, 0}, 2, 100000, 12);
  int64_t tried = 0;
  for (int64_t start = 0; start < 12; ++start) {
    std::map<int64_t, double> chances;
    for (const InEdge& first : to_users[start]) {
      for (const InEdge& second : to_items[first.source]) {
        chances[second.source] += 1.0 / static_cast<double>(to_users[start].size()) /
                                  static_cast<double>(to_items[first.source].size());
      }
    }
    if (chances.size() < 3) continue;
    VICINITY_ASSERT_OK_AND_ASSIGN(const Walks walks,
                                  Walk(graph, stored, spec, stored.Ids(0, {start})));
    const TopVisited visited = CountVisits(graph.schema, spec, walks);
    std::vector<int64_t> counts;
    std::vector<double> expected;
    int64_t total = 0;
    for (int64_t i = 0; i < 12 && visited.nodes[i] >= 0; ++i) {
      const auto chance = chances.find(stored.PositionOf(0, visited.nodes[i]));
      REQUIRE(chance != chances.end());
      counts.push_back(visited.counts[i]);
      expected.push_back(chance->second * 100000);
      total += visited.counts[i];
    }
    REQUIRE(counts.size() == chances.size());
    double sum = 0;
    for (const double each : expected) sum += each;
    // What is missing are walks that had no edge to take.
    counts.push_back(100000 - total);
    expected.push_back(std::max(100000 - sum, 1e-6));
    const auto freedom = static_cast<int64_t>(counts.size()) - 1;
    CHECK(ChiSquare(counts, expected) < ChiSquareLimit(freedom));
    // The test can tell: two nodes whose chances differ cannot stand for each other.
    const auto ends = std::minmax_element(expected.begin(), expected.end() - 1);
    if (*ends.second > 1.1 * *ends.first) {
      std::iter_swap(ends.first, ends.second);
      CHECK(ChiSquare(counts, expected) > ChiSquareLimit(freedom));
      ++tried;
    }
  }
  CHECK(tried > 3);
}

TEST_CASE("what is wrong with visits is named", "[visit_counts]") {
  const Schema schema = testing::TypedGraph(20, 10, 5, 3).schema;
  const auto problem = [&schema](const VisitSpec& spec, int64_t num_starts = 3) {
    return VisitProblem(schema, spec, num_starts);
  };
  CHECK(problem(Spec({1, 0}, 2, 5, 3)).empty());
  CHECK(problem(Spec({1, 0}, 2, 5, 3), 0).empty());
  CHECK(problem(Spec({1, 0}, 0, 5, 3)) == "walks of 0 steps, which are 1 to 16383");
  CHECK(problem(Spec({1, 0}, 1, 5, 3)) ==
        "walks of 1 steps along this metapath never come to nodes of type user");
  CHECK(problem(Spec({1, 0}, 2, 0, 3)) == "0 walks from each start: at least 1");
  CHECK(problem(Spec({1, 0}, 2, 5, -1)) == "the -1 most visited nodes: at least 1");
  CHECK(problem(Spec({1, 0}, 2, 1000, 3), 50000).find("are more than 134217728 nodes") !=
        std::string::npos);
  CHECK(problem(Spec({1, 0}, 2, 5, 1 << 20), 129).find("ask for fewer starts") !=
        std::string::npos);
  VisitSpec spec = Spec({1, 0}, 1, 5, 3);
  spec.node_type = 1;
  CHECK(problem(spec).empty());
  spec.node_type = 3;
  CHECK(problem(spec) == "node type 3 of 3");
  spec.node_type = -2;
  CHECK(problem(spec) == "node type -2 of 3");
}

}  // namespace
}  // namespace vicinity

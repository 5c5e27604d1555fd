#include "client/shards/routed_walks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/cancellation.h"
#include "sampler/walk_sampler.h"
#include "sampler/walk_spec.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

WalkSpec Spec(bool plain) {
  WalkSpec spec;
  spec.metapath = {1, 0};
  spec.length = 9;
  if (plain) return spec;
  spec.weighted_by = "weight";
  spec.restart_prob = 0.1;
  return spec;
}

TEST_CASE("walks over shards are those that go step by step", "[routed_walks]") {
  const WalkSpec spec = Spec(GENERATE(true, false));
  const RoutedGraph graph(testing::TypedGraph(120, 80, 20, 5), 4, {2});
  const MinibatchDraw draw{4, 0, 9};
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < 500; ++i) starts.push_back(i * 7 % 120);
  RoutedSource source(graph.router(), draw, nullptr);
  WalkSampler sampler(graph.router().schema(), graph.router().book(), draw, &source, nullptr);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks expected, sampler.Walk(spec, starts, true));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks walks,
                                WalkOverShards(graph.router(), spec, starts, draw, true, nullptr));
  CHECK(walks.nodes == expected.nodes);
  CHECK(walks.edge_ids == expected.edge_ids);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks alone,
                                WalkOverShards(graph.router(), spec, starts, draw, false, nullptr));
  CHECK(alone.nodes == expected.nodes);
  CHECK(alone.edge_ids.empty());
}

TEST_CASE("node2vec's walks are the same where all shards are mapped, and where some are not",
          "[routed_walks]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 150;
  options.num_edges = 1500;
  options.weights = true;
  const testing::MemoryGraph memory = testing::RandomGraph(options);
  const RoutedGraph mapped(memory, 4);
  const RoutedGraph far(memory, 4, {0, 1, 2, 3});
  const RoutedGraph mixed(memory, 4, {2});
  WalkSpec spec;
  spec.metapath = {0};
  spec.length = 8;
  spec.p = GENERATE(0.25, 4.0);
  spec.q = 2;
  spec.weighted_by = GENERATE("", "weight");
  const MinibatchDraw draw{4, 0, 9};
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < 700; ++i) starts.push_back(i * 7 % 150);
  const int64_t counted = mapped.traffic().sampled_edges_local.value();
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks expected,
                                RouteWalks(mapped.router(), spec, starts, draw, true, nullptr));
  CHECK(mapped.traffic().sampled_edges_local.value() - counted ==
        std::count_if(expected.edge_ids.begin(), expected.edge_ids.end(),
                      [](int64_t id) { return id >= 0; }));
  for (const RoutedGraph* graph : {&far, &mixed}) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const Walks walks,
                                  RouteWalks(graph->router(), spec, starts, draw, true, nullptr));
    CHECK(walks.nodes == expected.nodes);
    CHECK(walks.edge_ids == expected.edge_ids);
  }
  Cancellation cancel;
  cancel.Cancel();
  VICINITY_CHECK_CODE(RouteWalks(mapped.router(), spec, starts, draw, true, &cancel),
                      absl::StatusCode::kCancelled);
}

TEST_CASE("no walks are no calls; wrong ones, and a caller that is gone, are told",
          "[routed_walks]") {
  const RoutedGraph graph(testing::TypedGraph(120, 80, 20, 5), 4, {2});
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks none,
                                WalkOverShards(graph.router(), Spec(true), {}, {}, true, nullptr));
  CHECK(none.num_walks() == 0);
  VICINITY_CHECK_CODE(WalkOverShards(graph.router(), Spec(true), {120}, {}, true, nullptr),
                      absl::StatusCode::kInvalidArgument);
  Cancellation cancel;
  cancel.Cancel();
  VICINITY_CHECK_CODE(WalkOverShards(graph.router(), Spec(true), {1}, {}, true, &cancel),
                      absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace vicinity

#include "client/query/query_cost.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "client/query/query_runner.h"
#include "client/query/query_text.h"
#include "proto/common/ids.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

testing::MemoryGraph Graph() {
  testing::RandomGraphOptions options;
  options.num_nodes = 200;
  options.num_edges = 3000;
  options.weights = true;
  return testing::RandomGraph(options);
}

std::vector<StepCost> Explain(const RoutedGraph& graph, const std::string& text,
                              const InputSizes& sizes) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Query query, ParseQuery(text));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto runner,
                                QueryRunner::Make(graph.router(), query, nullptr));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<StepCost> costs,
                                runner->Foretell(sizes, nullptr));
  return costs;
}

TEST_CASE("What is expected of steps follows from the degrees") {
  const RoutedGraph graph(Graph(), /*num_shards=*/4, /*far=*/{0, 1, 2, 3});
  const std::vector<StepCost> costs =
      Explain(graph,
              "src = nodes(node, $seeds, columns=[features])\n"
              "few = neighbors(src, links, 5)\n"
              "all = neighbors(few, links, edge_ids=true)\n"
              "top = neighbors(src, links, order_by=weight, limit=2)\n"
              "no = negatives(src, links, 3)\n"
              "lay = layer(src, links, 30)\n"
              "walk = walk(src, links, 4, restart_prob=0.5)\n"
              "biased = walk(src, links, 4, p=2)\n"
              "most = visited(src, links, 3, length=4, num_walks=5)\n"
              "rank = ppr(src, links, 3, alpha=0.5, eps=0.125)\n"
              "sub = induced([src, no], links, edge_ids=true, edge_columns=[weight])\n"
              "deep = ppr(src, links, 300, weighted_by=weight)\n",
              {{"seeds", 10}});
  REQUIRE(costs.size() == 12);
  CHECK(costs[0].nodes == 10);
  CHECK(costs[0].shard_calls == 4);
  CHECK(costs[1].lists == 10);
  // Every node is looked at, so that the mean is exact: few have less than five edges.
  double mean = 0;
  for (const auto& list : graph.graph().InEdgesOfAll(EdgeTypeId{0})) {
    mean += static_cast<double>(std::min<size_t>(list.size(), 5)) / 200;
  }
  CHECK(costs[1].nodes == Approx(10 * mean));
  CHECK(costs[1].shard_calls == 4);
  CHECK(costs[1].bytes == Approx(10 * 16 + 10 * mean * 8));
  CHECK(costs[2].nodes == Approx(10 * mean * 15));
  CHECK(costs[2].bytes == Approx(10 * mean * 16 + 10 * mean * 15 * 16));
  CHECK(costs[3].nodes == 20);
  CHECK(costs[4].nodes == 30);
  CHECK(costs[5].nodes == 30);
  CHECK(costs[5].lists == 1);
  CHECK(costs[6].lists == 10);
  CHECK(costs[6].nodes == Approx(10 * (1 + 0.5 + 0.25 + 0.125 + 0.0625)));
  CHECK(costs[6].shard_calls == 16);
  CHECK(costs[6].bytes == Approx(10 * ((1 + 0.9375 * 0.75) * 16 + 0.9375 * 8)));
  CHECK(costs[7].nodes == 50);
  CHECK(costs[7].shard_calls == 32);
  CHECK(costs[8].nodes == 30);
  CHECK(costs[8].shard_calls == 16);
  CHECK(costs[8].bytes == Approx(50 * ((1 + 4 * 0.75) * 16 + 4 * 8)));
  CHECK(costs[8].does ==
        "5 walks of up to 4 steps of each, on the servers; each goes on wherever it comes to "
        "another shard; the 3 most visited are counted here");
  CHECK(costs[9].nodes == 30);
  CHECK(costs[9].shard_calls == 3 * 2 * 4);
  CHECK(costs[9].bytes == Approx(10 * 16 * 24));
  CHECK(costs[10].lists == 40);
  CHECK(costs[10].nodes == 40);
  CHECK(costs[10].shard_calls == 3 * 4);  // degrees, lists, weights
  CHECK(costs[10].bytes == Approx(40 * 16 + 40 * 16 + 600 * 24 + 120 * 12));
  CHECK(costs[10].does == "whole lists come, of which some 120 edges between these nodes stay");
  CHECK(costs[11].nodes == 10 * 200);
  CHECK(costs[11].shard_calls == 57 * 3 * 4);
  CHECK(costs[11].bytes == Approx(3000 * 40));
  CHECK(costs[11].does ==
        "degrees and whole lists come, in up to 57 rounds and of up to 3000 edges; pushed here; by "
        "weight");
}

TEST_CASE("Negatives that all lists share are counted once, not once for each list") {
  const RoutedGraph graph(Graph(), /*num_shards=*/4, /*far=*/{0, 1, 2, 3});
  const std::vector<StepCost> costs =
      Explain(graph,
              "src = nodes(node, $seeds)\n"
              "apart = negatives(src, links, 3, exact=false, columns=[label])\n"
              "same = negatives(src, links, 3, exact=false, shared=true, columns=[label])\n"
              "none = negatives(src, links, 3, shared=true, columns=[label])\n"
              "both = negatives(src, links, 4, exact=false, shared=true, like=src, same=[label], "
              "shares=[0.5], columns=[label])\n"
              "sub = induced([same], links)\n",
              {{"seeds", 10}});
  // Lists have three each; of the same three nodes.
  CHECK(costs[1].nodes == 30);
  CHECK(costs[2].nodes == 30);
  CHECK(costs[1].bytes == Approx(30 * 12));
  CHECK(costs[2].bytes == Approx(3 * 12));
  CHECK(costs[2].does == "drawn here; the same for all, some 3 nodes");
  // Where an edge is in the way a list has another: of 30 pairs, 3000 of 200 x 200 are edges.
  const double joined = 30 * 3000.0 / 40'000;
  CHECK(costs[3].bytes == Approx(30 * 24 + (3 + joined) * 12));
  CHECK(costs[3].does ==
        "drawn here; servers say which pairs are edges; the same for all, some 5 nodes");
  // Two of four go by each list's own label.
  CHECK(costs[4].bytes == Approx(10 * 16 + (2 + 2 * 10) * 12));
  CHECK(costs[5].nodes == 3);
  CHECK(costs[5].lists == 3);
}

TEST_CASE("It is told that servers find the nodes that meet a condition") {
  const RoutedGraph graph(Graph(), /*num_shards=*/4, /*far=*/{0, 1, 2, 3});
  const std::vector<StepCost> costs =
      Explain(graph, "some = nodes(node, where=\"label = 1 or label > 2\")", {});
  REQUIRE(costs.size() == 1);
  CHECK(costs[0].does ==
        "the graph's nodes; servers tell those that meet the condition, once for all runs, by "
        "reading label");
}

TEST_CASE("It is told what is read for a condition, and by whom lists are drawn from") {
  const RoutedGraph graph(Graph(), 2);
  const std::vector<StepCost> costs =
      Explain(graph,
              "src = nodes(node, [3, 4])\n"
              "read = neighbors(src, links, 5, where=\"label = 1\")\n"
              "drawn = neighbors(src, links, 5, by=weight, where=\"weight > 1\")\n"
              "walk = walk(src, links, 3, weighted_by=weight)\n"
              "both = neighbors(src, links, 5, by=weight, where=\"label = 1\")\n",
              {});
  CHECK(costs[1].does ==
        "whole lists come; label of their nodes is read, without an index; 5 of each are drawn "
        "here, at most");
  CHECK(costs[1].shard_calls == 6);
  CHECK(costs[2].does ==
        "servers draw 5 of each list; by weight; they look at the condition, which leaves fewer");
  CHECK(costs[2].shard_calls == 2);
  CHECK(costs[4].does == costs[1].does + "; by weight, which comes of all their edges");
  CHECK(costs[4].shard_calls == 8);
  CHECK(costs[4].bytes > costs[1].bytes);
  CHECK(costs[3].does ==
        "walks of up to 3 steps, on the servers; by weight; each goes on wherever it comes to "
        "another shard");
}

TEST_CASE("Of out-lists the degrees are those of sources, and whose lists they are is told") {
  testing::MemoryGraph both = Graph();
  testing::AddReverse(EdgeTypeId{0}, &both);
  const RoutedGraph graph(both, /*num_shards=*/2, /*far=*/{0, 1});
  const std::vector<StepCost> costs = Explain(graph,
                                              "src = nodes(node, $seeds)\n"
                                              "onto = neighbors(src, links, 9, direction=out)\n",
                                              {{"seeds", 10}});
  double mean = 0;
  for (const auto& list : both.InEdgesOfAll(EdgeTypeId{1})) {
    mean += static_cast<double>(std::min<size_t>(list.size(), 9)) / 200;
  }
  CHECK(costs[1].nodes == Approx(10 * mean));
  CHECK(costs[1].does == "out-lists are those of node:rev_links:node; servers draw 9 of each list");
}

TEST_CASE("A run takes no more calls than are foretold") {
  RoutedGraph graph(Graph(), 4, {0, 1, 2, 3});
  const std::string text =
      "src = nodes(node, $seeds, columns=[features])\n"
      "near = neighbors(src, links, 5, where=\"label = 1\", order_by=id, edge_columns=[weight])\n"
      "far = neighbors(near, links, 3, columns=[features, label])\n"
      "both = neighbors(src, links, 3, by=weight, where=\"label = 1\")\n"
      "sub = induced([src, near, far], links, edge_columns=[weight])\n"
      "walk = walk(far, links, 5)\n";
  VICINITY_ASSERT_OK_AND_ASSIGN(const Query query, ParseQuery(text));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto runner,
                                QueryRunner::Make(graph.router(), query, nullptr));
  double foretold = 0;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<StepCost> costs,
                                runner->Foretell({{"seeds", 60}}, nullptr));
  for (const StepCost& cost : costs) foretold += cost.shard_calls;
  const int64_t before = graph.faults()->calls;
  std::vector<int64_t> seeds;
  for (int64_t i = 0; i < 60; ++i) seeds.push_back(i * 3);
  VICINITY_REQUIRE_OK(runner->Run({{"seeds", seeds}}, MinibatchDraw(), nullptr).status());
  CHECK(static_cast<double>(graph.faults()->calls - before) <= foretold);
  CHECK(graph.faults()->calls - before >= 4 * 6);
}

}  // namespace
}  // namespace vicinity

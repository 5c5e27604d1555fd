// Steps of queries whose nodes are where walks lead.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/query/query.h"
#include "client/query/query_runner.h"
#include "client/query/query_steps.h"
#include "client/query/step_makers.h"
#include "client/query/walk_makers.h"
#include "client/shards/lookups.h"
#include "client/shards/routed_walks.h"
#include "client/shards/shard_router.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/walk_sampler.h"
#include "sampler/walk_spec.h"
#include "tests/client/query/run_query.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::Draw;
using testing::InEdge;
using testing::ListOf;
using testing::Make;
using testing::MemoryEdges;
using testing::MemoryGraph;
using testing::RoutedGraph;
using testing::Run;
using testing::ToGlobal;

constexpr NodeTypeId kNode{0};
constexpr NodeTypeId kUser{0};

MemoryGraph Linked() {
  testing::RandomGraphOptions options;
  options.num_nodes = 80;
  options.num_edges = 240;  // some nodes have none that lead to them
  options.weights = true;
  return testing::RandomGraph(options);
}

TEST_CASE("A walk is, step by step, the library's own of the step's draw") {
  const RoutedGraph graph(Linked(), 3, {1});
  const std::vector<int64_t> starts = {3, 14, 15, 3, 79, 0, 1, 2};
  const std::string options =
      GENERATE(as<std::string>{}, "", ", weighted_by=weight", ", restart_prob=0.3", ", p=0.25, q=4",
               ", p=4, q=0.25, weighted_by=weight, restart_prob=0.1");
  const auto runner =
      Make(graph, "src = nodes(node, $in)\nw = walk(src, links, 7, edge_ids=true" + options + ")");
  const std::vector<int64_t> global = ToGlobal(graph, kNode, starts);
  VICINITY_ASSERT_OK_AND_ASSIGN(const QueryAnswer answer,
                                runner->Run({{"in", global}}, Draw(4), nullptr));
  const ResolvedStep& step = runner->steps()[1];
  const MinibatchDraw own = StepDraw{Draw(4), 1}.Own(step);
  RoutedSource source(graph.router(), own, nullptr);
  RoutedFinder finder(graph.router(), nullptr);
  WalkSampler sampler(graph.router().schema(), graph.router().book(), own, &source, &finder);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks expected, sampler.Walk(step.walk, global, true));
  CHECK(answer.steps[1].walks.nodes == expected.nodes);
  CHECK(answer.steps[1].walks.edge_ids == expected.edge_ids);
  CHECK(answer.steps[1].walks.num_walks() == 8);
}

TEST_CASE("A walk along a metapath goes from edge to edge, and its list has one type's nodes") {
  const RoutedGraph graph(testing::TypedGraph(40, 30, 5, /*seed=*/3), 3, {1});
  const std::vector<int64_t> seeds = {0, 5, 5, 29};
  const QueryAnswer answer = Run(graph,
                                 "src = nodes(item, $seeds)\n"
                                 "w = walk(src, [buys, bought_by], 5, weighted_by=weight, "
                                 "restart_prob=0.1, edge_ids=true)\n"
                                 "u = walk(src, [buys, bought_by], 5, node_type=user, "
                                 "columns=[label])\n"
                                 "near = neighbors(u, knows, 2)\n",
                                 seeds);
  const StepAnswer& step = *answer.Find("w");
  CHECK(step.walk_types == std::vector<int32_t>{1, 0, 1, 0, 1, 0});
  const std::vector<MemoryEdges>& edges = graph.graph().edges;
  size_t taken = 0;
  for (size_t walk = 0; walk < seeds.size(); ++walk) {
    const int64_t* const nodes = step.walks.nodes.data() + walk * 6;
    const int64_t* const ids = step.walks.edge_ids.data() + walk * 5;
    CHECK(nodes[0] == seeds[walk]);
    std::vector<int64_t> items = {nodes[0]};
    for (size_t s = 0; s < 5; ++s) {
      CHECK((nodes[s + 1] < 0) == (ids[s] < 0));
      if (ids[s] < 0) {
        CHECK(std::all_of(nodes + s + 1, nodes + 6, [](int64_t node) { return node == -1; }));
        break;
      }
      CHECK(edges[s % 2].targets[ids[s]] == nodes[s]);
      CHECK(edges[s % 2].sources[ids[s]] == nodes[s + 1]);
      if (s % 2 == 1) items.push_back(nodes[s + 1]);
      ++taken;
    }
    CHECK(ListOf(step, walk) == items);
    std::vector<int64_t> users;
    const int64_t* const others = answer.Find("u")->walks.nodes.data() + walk * 6;
    for (size_t s = 1; s < 6 && others[s] >= 0; s += 2) users.push_back(others[s]);
    CHECK(ListOf(*answer.Find("u"), walk) == users);
  }
  CHECK(taken > 5);
  CHECK(answer.Find("u")->node_type == kUser.value);
  CHECK(answer.Find("u")->columns[0].num_rows ==
        static_cast<int64_t>(answer.Find("u")->nodes.size()));
  CHECK(answer.Find("near")->offsets.size() == answer.Find("u")->nodes.size() + 1);
  CHECK(answer.Find("u")->walks.edge_ids.empty());
}

TEST_CASE("The most visited are counted on walks that the library makes of the step's draw") {
  const RoutedGraph graph(testing::TypedGraph(40, 30, 5, /*seed=*/3), 3, {1});
  const std::string options =
      GENERATE(as<std::string>{}, "", ", exclude_start=true", ", node_type=user, restart_prob=0.2");
  const auto runner = Make(graph,
                           "src = nodes(item, $in)\n"
                           "top = visited(src, [buys, bought_by], 3, length=6, num_walks=20" +
                               options + ")");
  const std::vector<int64_t> seeds = {0, 5, 5, 29};
  const std::vector<int64_t> starts = ToGlobal(graph, NodeTypeId{1}, seeds);
  VICINITY_ASSERT_OK_AND_ASSIGN(const QueryAnswer answer,
                                runner->Run({{"in", starts}}, Draw(4), nullptr));
  const ResolvedStep& step = runner->steps()[1];
  std::vector<int64_t> all;
  for (const int64_t start : starts) all.insert(all.end(), 20, start);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const Walks walks, RouteWalks(graph.router(), step.walk, all, StepDraw{Draw(4), 1}.Own(step),
                                    /*want_edge_ids=*/false, nullptr));
  const bool users = options.find("user") != std::string::npos;
  const bool leave_out = options.find("exclude") != std::string::npos;
  const StepAnswer& made = answer.steps[1];
  for (size_t i = 0; i < starts.size(); ++i) {
    std::map<int64_t, int64_t> counts;
    for (size_t walk = i * 20; walk < (i + 1) * 20; ++walk) {
      for (size_t s = users ? 1 : 2; s <= 6; s += 2) {
        const int64_t node = walks.nodes[walk * 7 + s];
        if (node >= 0 && !(leave_out && node == starts[i])) ++counts[node];
      }
    }
    const size_t size = made.offsets[i + 1] - made.offsets[i];
    CHECK(size == std::min<size_t>(3, counts.size()));
    int64_t least = INT64_MAX;
    for (int64_t at = made.offsets[i]; at < made.offsets[i + 1]; ++at) {
      CHECK(made.counts[at] == counts[made.nodes[at]]);
      CHECK(made.counts[at] <= least);
      least = made.counts[at];
      counts.erase(made.nodes[at]);
    }
    for (const auto& [node, count] : counts) CHECK((size < 3 || count <= least));
  }
  CHECK(made.node_type == (users ? 0 : 1));
  CHECK(made.counts.size() == made.nodes.size());
  CHECK(made.nodes.size() > 4);
}

// Chances with which a walker from a node stops at each, to 1e-12.
std::vector<double> PageRankOf(const MemoryGraph& graph, int64_t seed, double alpha,
                               bool weighted) {
  const std::vector<std::vector<InEdge>> in_edges = graph.InEdgesOfAll(EdgeTypeId{0});
  const int column = graph.schema.edge_types[0].FindColumn("weight");
  const auto weight_of = [&](const InEdge& edge) {
    float weight = 1;
    if (weighted) {
      std::memcpy(&weight, graph.edge_row(EdgeTypeId{0}, column, edge.edge_id).data(),
                  sizeof(weight));
    }
    return static_cast<double>(weight);
  };
  std::vector<double> ranks(in_edges.size());
  std::vector<double> under_way(in_edges.size());
  under_way[seed] = 1;
  for (int round = 0; round < 400; ++round) {
    std::vector<double> next(in_edges.size());
    for (size_t node = 0; node < in_edges.size(); ++node) {
      double sum = 0;
      for (const InEdge& edge : in_edges[node]) sum += weight_of(edge);
      ranks[node] += sum > 0 ? alpha * under_way[node] : under_way[node];
      for (const InEdge& edge : in_edges[node]) {
        if (sum > 0) next[edge.source] += (1 - alpha) * under_way[node] * weight_of(edge) / sum;
      }
    }
    under_way = next;
  }
  return ranks;
}

TEST_CASE("Nodes of the highest PageRank are those of the exact one, as far as residuals say") {
  const RoutedGraph graph(Linked(), 3, {1});
  const bool weighted = GENERATE(false, true);
  const std::vector<int64_t> seeds = {3, 14, 3, 79};
  const QueryAnswer answer =
      Run(graph,
          std::string("src = nodes(node, $seeds)\n") +
              "top = ppr(src, links, 10, alpha=0.2, eps=1e-5, columns=[label]" +
              (weighted ? ", weighted_by=weight)" : ")"),
          seeds);
  const StepAnswer& top = answer.steps[1];
  REQUIRE(top.residuals.size() == seeds.size());
  REQUIRE(top.scores.size() == top.nodes.size());
  for (size_t i = 0; i < seeds.size(); ++i) {
    std::vector<double> ranks = PageRankOf(graph.graph(), seeds[i], 0.2, weighted);
    const double residual = top.residuals[i] + 1e-9;
    CHECK(residual < 0.05);
    double least = 1;
    for (int64_t at = top.offsets[i]; at < top.offsets[i + 1]; ++at) {
      const double rank = ranks[top.nodes[at]];
      CHECK(top.scores[at] <= rank + 1e-9);
      CHECK(top.scores[at] >= rank - residual);
      CHECK(top.scores[at] <= least);
      least = top.scores[at];
      ranks[top.nodes[at]] = 0;
    }
    if (top.offsets[i + 1] - top.offsets[i] < 10) least = 0;
    for (const double rank : ranks) CHECK(rank <= least + residual);
  }
  CHECK(top.nodes.size() > 10);
  CHECK(ListOf(top, 0) == ListOf(top, 2));
}

TEST_CASE("PageRank goes along several edge types, and is of the type that is asked for") {
  const RoutedGraph graph(testing::TypedGraph(40, 30, 5, /*seed=*/3), 3, {1});
  const QueryAnswer answer = Run(graph,
                                 "src = nodes(item, $seeds)\n"
                                 "items = ppr(src, [buys, bought_by], 5, weighted_by=weight)\n"
                                 "users = ppr(src, [], 5, node_type=user)\n"
                                 "near = neighbors(users, knows, 2)\n"
                                 "nobody = ppr(near, [], 5, max_neighbors=1)\n",
                                 {0, 7});
  CHECK(answer.Find("items")->node_type == 1);
  const std::vector<int64_t> items = ListOf(*answer.Find("items"), 1);
  CHECK(std::count(items.begin(), items.end(), 7) == 1);  // the seed itself is among them
  CHECK(answer.Find("users")->node_type == kUser.value);
  CHECK(answer.Find("users")->nodes.size() == 10);
  CHECK(answer.Find("near")->offsets.size() == 11);
  CHECK(answer.Find("nobody")->residuals.size() == answer.Find("near")->nodes.size());
}

TEST_CASE("Where walks lead is the same over any shards, near and far") {
  const std::string text =
      "src = nodes(node, $seeds)\n"
      "plain = walk(src, links, 6, edge_ids=true, columns=[features])\n"
      "heavy = walk(src, links, 6, weighted_by=weight, restart_prob=0.2)\n"
      "far = walk(src, links, 6, p=4, q=0.25, edge_ids=true)\n"
      "next = walk(plain, links, 2)\n"
      "most = visited(src, links, 5, length=4, num_walks=9, weighted_by=weight, columns=[label])\n"
      "on = neighbors(most, links, 2)\n"
      "rank = ppr(src, links, 7, eps=1e-5, weighted_by=weight, columns=[label])\n"
      "drawn = ppr(most, [], 3, eps=1e-3, max_neighbors=2)\n";
  const std::vector<int64_t> seeds = {3, 14, 15, 3, 79};
  const RoutedGraph whole(Linked(), 1);
  const QueryAnswer expected = Run(whole, text, seeds, 4);
  for (const int32_t num_shards : {2, 4, 8}) {
    const RoutedGraph cut(Linked(), num_shards, {0, num_shards - 1});
    const QueryAnswer answer = Run(cut, text, seeds, 4);
    for (size_t i = 0; i < answer.steps.size(); ++i) {
      INFO(num_shards << " shards, step " << expected.steps[i].name);
      CHECK(answer.steps[i].nodes == expected.steps[i].nodes);
      CHECK(answer.steps[i].offsets == expected.steps[i].offsets);
      CHECK(answer.steps[i].walks.nodes == expected.steps[i].walks.nodes);
      CHECK(answer.steps[i].walks.edge_ids == expected.steps[i].walks.edge_ids);
      CHECK(answer.steps[i].counts == expected.steps[i].counts);
      CHECK(answer.steps[i].scores == expected.steps[i].scores);
      CHECK(answer.steps[i].residuals == expected.steps[i].residuals);
    }
    CHECK(answer.steps[1].columns[0].bytes == expected.steps[1].columns[0].bytes);
  }
}

TEST_CASE("Walks of nothing are none, and those of too many nodes are refused") {
  const RoutedGraph graph(Linked(), 2);
  const QueryAnswer answer = Run(graph, "src = nodes(node, $seeds)\nw = walk(src, links, 3)", {});
  CHECK(Run(graph, "src = nodes(node, $seeds)\nr = ppr(src, links, 3)", {}).steps[1].nodes.empty());
  CHECK(answer.steps[1].nodes.empty());
  CHECK(answer.steps[1].offsets == std::vector<int64_t>{0});
  const auto runner = Make(graph, "src = nodes(node, count=8192)\nw = walk(src, links, 16383)");
  VICINITY_CHECK_CODE(runner->Run({}, Draw(0), nullptr).status(),
                      absl::StatusCode::kResourceExhausted);
  const auto visits =
      Make(graph,
           "src = nodes(node, count=1000)\nv = visited(src, links, 3, length=99, num_walks=2000)");
  VICINITY_CHECK_CODE(visits->Run({}, Draw(0), nullptr).status(),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

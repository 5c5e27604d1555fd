#include "client/query/query_runner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/query/query_text.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "tests/client/query/run_query.h"
#include "tests/client/routed_graph.h"
#include "tests/sampler/chi_square.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::ChiSquare;
using testing::ChiSquareLimit;
using testing::Draw;
using testing::InEdge;
using testing::ListOf;
using testing::Make;
using testing::MemoryEdges;
using testing::MemoryGraph;
using testing::MemoryNodes;
using testing::RoutedGraph;
using testing::Run;
using testing::ToGlobal;

constexpr NodeTypeId kNode{0};
constexpr EdgeTypeId kLinks{0};
constexpr int64_t kNumNodes = 80;

template <typename Value>
std::string Bytes(const std::vector<Value>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
}

std::string BytesOf(const Rows& rows) { return {rows.bytes.begin(), rows.bytes.end()}; }

int16_t YearOf(int64_t position) { return static_cast<int16_t>(2000 + position * 7 % 20); }
float PriceOf(int64_t position) {
  return position % 9 == 0 ? std::nanf("") : static_cast<float>(position * 5 % 13);
}

// Nodes have a year, a price and a fame, edges a weight and a copy of their source's year.
MemoryGraph Priced(int64_t num_edges = 900) {
  testing::RandomGraphOptions options;
  options.num_nodes = kNumNodes;
  options.num_edges = num_edges;
  options.weights = true;
  MemoryGraph graph = testing::RandomGraph(options);
  std::vector<int16_t> years;
  std::vector<float> prices;
  std::vector<double> fames;
  for (int64_t i = 0; i < kNumNodes; ++i) {
    years.push_back(YearOf(i));
    prices.push_back(PriceOf(i));
    fames.push_back(static_cast<double>(i % 4));
  }
  std::vector<ColumnSpec>& columns = graph.schema.node_types[0].columns;
  columns.push_back({"year", DType::kInt16, {}});
  columns.push_back({"price", DType::kFloat32, {}});
  columns.push_back({"fame", DType::kFloat64, {}});
  graph.nodes[0].columns.push_back(Bytes(years));
  graph.nodes[0].columns.push_back(Bytes(prices));
  graph.nodes[0].columns.push_back(Bytes(fames));
  std::vector<int16_t> source_years;
  for (const int64_t source : graph.edges[0].sources) source_years.push_back(YearOf(source));
  graph.schema.edge_types[0].columns.push_back({"source_year", DType::kInt16, {}});
  graph.edges[0].columns.push_back(Bytes(source_years));
  return graph;
}

float WeightOf(const MemoryGraph& graph, int64_t edge) {
  float weight = 0;
  const int column = graph.schema.edge_types[0].FindColumn("weight");
  std::memcpy(&weight, graph.edge_row(kLinks, column, edge).data(), sizeof(weight));
  return weight;
}

TEST_CASE("Neighbors that meet a condition, in order, the first of them: as by hand") {
  const RoutedGraph graph(Priced(), /*num_shards=*/3, /*far=*/{1});
  const std::vector<int64_t> seeds = {3, 14, 15, 3, 79};
  const QueryAnswer answer = Run(graph,
                                 "src = nodes(node, $seeds, columns=[year])\n"
                                 "cheap = neighbors(src, links, where=\"price > 2\", order_by=id, "
                                 "limit=2, columns=[price], edge_ids=true)\n"
                                 "heavy = neighbors(src, links, where=\"weight > 0.5\", "
                                 "edge_ids=true, edge_columns=[weight])\n"
                                 "top = neighbors(src, links, order_by=weight, descending=true, "
                                 "limit=3, edge_ids=true)\n",
                                 seeds);
  const StepAnswer& cheap = *answer.Find("cheap");
  const StepAnswer& heavy = *answer.Find("heavy");
  const StepAnswer& top = *answer.Find("top");
  REQUIRE(cheap.offsets.size() == seeds.size() + 1);
  for (size_t i = 0; i < seeds.size(); ++i) {
    std::vector<InEdge> all = graph.graph().InEdges(kLinks, seeds[i]);
    std::vector<int64_t> meet;
    std::vector<int64_t> weighty;
    for (const InEdge& edge : all) {
      if (PriceOf(edge.source) > 2) meet.push_back(edge.source);
      if (WeightOf(graph.graph(), edge.edge_id) > 0.5) weighty.push_back(edge.edge_id);
    }
    std::stable_sort(meet.begin(), meet.end());  // keys are positions here
    meet.resize(std::min<size_t>(meet.size(), 2));
    CHECK(ListOf(cheap, i) == meet);
    std::vector<int64_t> edges(heavy.edge_ids.begin() + heavy.offsets[i],
                               heavy.edge_ids.begin() + heavy.offsets[i + 1]);
    CHECK(edges == weighty);
    std::stable_sort(all.begin(), all.end(), [&](const InEdge& a, const InEdge& b) {
      return WeightOf(graph.graph(), a.edge_id) > WeightOf(graph.graph(), b.edge_id);
    });
    for (int64_t k = 0; k < top.offsets[i + 1] - top.offsets[i]; ++k) {
      CHECK(top.edge_ids[top.offsets[i] + k] == all[k].edge_id);
    }
  }
  REQUIRE(heavy.edge_columns.size() == 1);
  for (size_t k = 0; k < heavy.edge_ids.size(); ++k) {
    float weight = 0;
    std::memcpy(&weight, heavy.edge_columns[0].bytes.data() + k * sizeof(float), sizeof(weight));
    CHECK(weight == WeightOf(graph.graph(), heavy.edge_ids[k]));
  }
  for (size_t k = 0; k < cheap.nodes.size(); ++k) {
    float price = 0;
    std::memcpy(&price, cheap.columns[0].bytes.data() + k * sizeof(float), sizeof(price));
    CHECK(price == PriceOf(cheap.nodes[k]));
  }
  CHECK(answer.steps[0].columns[0].num_rows == 5);
}

TEST_CASE("An answer is the same over any shards, near and far") {
  const std::string text =
      "src = nodes(node, $seeds)\n"
      "some = nodes(node, count=9, by=fame)\n"
      "old = nodes(node, count=9, where=\"year < 2010\")\n"
      "train = nodes(node, split=train, where=\"price >= 0\", order_by=price, limit=20)\n"
      "near = neighbors(src, links, 4, edge_ids=true)\n"
      "by_weight = neighbors(some, links, 3, by=weight, where=\"source_year >= 2005\")\n"
      "weighed = neighbors(some, links, 3, by=weight, where=\"year >= 2005\")\n"
      "read = neighbors(near, links, 2, where=\"year >= 2005 and price < 9\", columns=[features])\n"
      "no = negatives(src, links, 3)\n"
      "alike = negatives(src, links, 3, shared=true)\n"
      "lay = layer(near, links, 12, by=weight, square_root=true)\n"
      "last = neighbors(lay, links, 2, replace=true, order_by=year, edge_columns=[weight])\n";
  const std::vector<int64_t> seeds = {3, 14, 15, 3, 79};
  const RoutedGraph whole(Priced(), 1);
  const QueryAnswer expected = Run(whole, text, seeds, 4);
  for (const int32_t num_shards : {2, 4, 8}) {
    const RoutedGraph cut(Priced(), num_shards, {0, num_shards - 1});
    const QueryAnswer answer = Run(cut, text, seeds, 4);
    REQUIRE(answer.steps.size() == expected.steps.size());
    for (size_t i = 0; i < answer.steps.size(); ++i) {
      INFO(num_shards << " shards, step " << expected.steps[i].name);
      const StepAnswer& step = answer.steps[i];
      const StepAnswer& same = expected.steps[i];
      CHECK(step.nodes == same.nodes);
      CHECK(step.offsets == same.offsets);
      CHECK(step.edge_ids == same.edge_ids);
      CHECK(step.weights == same.weights);
      for (size_t k = 0; k < step.columns.size(); ++k) {
        CHECK(step.columns[k].bytes == same.columns[k].bytes);
      }
      for (size_t k = 0; k < step.edge_columns.size(); ++k) {
        CHECK(step.edge_columns[k].bytes == same.edge_columns[k].bytes);
      }
    }
  }
}

TEST_CASE("Negatives that all lists share have the rows of their nodes in every list") {
  const RoutedGraph graph(Priced(), /*num_shards=*/3, /*far=*/{0, 1, 2});
  const std::vector<int64_t> seeds = {3, 14, 15, 3, 79};
  const QueryAnswer answer =
      Run(graph,
          "src = nodes(node, $seeds)\n"
          "alike = negatives(src, links, 6, shared=true, columns=[price, year])\n",
          seeds);
  const StepAnswer& alike = *answer.Find("alike");
  REQUIRE(alike.nodes.size() == 30);
  REQUIRE(alike.columns.size() == 2);
  for (size_t i = 0; i < alike.nodes.size(); ++i) {
    float price = 0;
    int16_t year = 0;
    std::memcpy(&price, alike.columns[0].bytes.data() + i * sizeof(price), sizeof(price));
    std::memcpy(&year, alike.columns[1].bytes.data() + i * sizeof(year), sizeof(year));
    CHECK(year == YearOf(alike.nodes[i]));
    CHECK((price == PriceOf(alike.nodes[i]) || std::isnan(PriceOf(alike.nodes[i]))));
  }
}

TEST_CASE("What is read and drawn here is what servers draw by a copy of the column") {
  const bool long_lists = GENERATE(false, true);  // by weight these are drawn in another way
  const RoutedGraph graph(Priced(long_lists ? 16000 : 900), 2, {1});
  const auto answer = [&](const std::string& rest, uint64_t batch) {
    return Run(graph, "src = nodes(node)\nnear = neighbors(src, links, " + rest, {}, batch)
        .steps[1];
  };
  for (uint64_t batch = 0; batch < (long_lists ? 2U : 20U); ++batch) {
    for (const std::string& rule : {"3", "4, replace=true", "all", "3, by=weight",
                                    "4, by=weight, replace=true", "90, by=weight"}) {
      const StepAnswer read = answer(rule + ", where=\"year >= 2008\", edge_ids=true)", batch);
      const StepAnswer drawn =
          answer(rule + ", where=\"source_year >= 2008\", edge_ids=true)", batch);
      CHECK(read.edge_ids == drawn.edge_ids);
      CHECK(read.offsets == drawn.offsets);
      CHECK_FALSE(read.nodes.empty());
    }
  }
}

// Counts of what `draws` gives, by position, against chances that are in proportion to `weights`.
double StatisticOf(const std::vector<int64_t>& counts, const std::vector<double>& weights) {
  double sum = 0;
  int64_t all = 0;
  for (const double weight : weights) sum += weight;
  for (const int64_t count : counts) all += count;
  std::vector<int64_t> seen;
  std::vector<double> expected;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) CHECK(counts[i] == 0);
    if (weights[i] == 0) continue;
    seen.push_back(counts[i]);
    expected.push_back(static_cast<double>(all) * weights[i] / sum);
  }
  return ChiSquare(seen, expected);
}

struct OutEdge {
  int64_t target;  // position
  int64_t edge_id;
};

// In the order in which lists of the reversed type keep them: by the target's key, then by edge.
std::vector<OutEdge> OutEdges(const MemoryGraph& graph, EdgeTypeId type, int64_t source) {
  const MemoryEdges& edges = graph.edges[type.value];
  const MemoryNodes& targets = graph.nodes[graph.schema.edge_types[type.value].target_type];
  std::vector<OutEdge> found;
  for (size_t e = 0; e < edges.sources.size(); ++e) {
    if (edges.sources[e] == source) found.push_back({edges.targets[e], static_cast<int64_t>(e)});
  }
  std::stable_sort(found.begin(), found.end(), [&](const OutEdge& a, const OutEdge& b) {
    return targets.keys[a.target] < targets.keys[b.target];
  });
  return found;
}

std::vector<int64_t> EdgesOf(const StepAnswer& step, size_t i) {
  return {step.edge_ids.begin() + step.offsets[i], step.edge_ids.begin() + step.offsets[i + 1]};
}

// That the step's lists are all out-edges of `type` of these nodes, those that `keep` takes.
template <typename Keep>
void CheckOutLists(const MemoryGraph& graph, EdgeTypeId type, const std::vector<int64_t>& sources,
                   const StepAnswer& step, const Keep& keep) {
  REQUIRE(step.offsets.size() == sources.size() + 1);
  for (size_t i = 0; i < sources.size(); ++i) {
    std::vector<int64_t> nodes;
    std::vector<int64_t> edges;
    for (const OutEdge& edge : OutEdges(graph, type, sources[i])) {
      if (!keep(edge)) continue;
      nodes.push_back(edge.target);
      edges.push_back(edge.edge_id);
    }
    CHECK(ListOf(step, i) == nodes);
    CHECK(EdgesOf(step, i) == edges);
  }
}

MemoryGraph PricedBothWays() {
  MemoryGraph graph = Priced();
  testing::AddReverse(kLinks, &graph);
  return graph;
}

TEST_CASE("Neighbors in the direction out are where edges lead to, with their ids and rows") {
  const int32_t num_shards = GENERATE(1, 3);
  const RoutedGraph graph(PricedBothWays(), num_shards, {num_shards - 1});
  const std::vector<int64_t> seeds = {3, 14, 15, 3, 79};
  const QueryAnswer answer =
      Run(graph,
          "src = nodes(node, $seeds)\n"
          "onto = neighbors(src, links, direction=out, columns=[year], edge_columns=[weight], "
          "edge_ids=true)\n"
          "heavy = neighbors(src, links, direction=out, where=\"weight > 0.5\", edge_ids=true)\n"
          "late = neighbors(src, links, direction=out, where=\"year >= 2010\", edge_ids=true)\n"
          "few = neighbors(src, links, 4, direction=out, edge_ids=true)\n"
          "back = neighbors(onto, rev_links, direction=out, edge_ids=true)\n"
          "into = neighbors(onto, links, edge_ids=true)\n",
          seeds);
  const MemoryGraph& all = graph.graph();
  const StepAnswer& onto = *answer.Find("onto");
  CheckOutLists(all, kLinks, seeds, onto, [](const OutEdge&) { return true; });
  CheckOutLists(all, kLinks, seeds, *answer.Find("heavy"),
                [&](const OutEdge& edge) { return WeightOf(all, edge.edge_id) > 0.5; });
  CheckOutLists(all, kLinks, seeds, *answer.Find("late"),
                [](const OutEdge& edge) { return YearOf(edge.target) >= 2010; });
  std::vector<float> weights;
  std::vector<int16_t> years;
  for (const int64_t edge : onto.edge_ids) weights.push_back(WeightOf(all, edge));
  for (const int64_t node : onto.nodes) years.push_back(YearOf(node));
  REQUIRE(onto.nodes.size() > 10);
  CHECK(BytesOf(onto.edge_columns.at(0)) == Bytes(weights));
  CHECK(BytesOf(onto.columns.at(0)) == Bytes(years));
  const StepAnswer& few = *answer.Find("few");
  for (size_t i = 0; i < seeds.size(); ++i) {
    std::vector<int64_t> drawn = EdgesOf(few, i);
    std::vector<int64_t> list = EdgesOf(onto, i);
    CHECK(drawn.size() == std::min<size_t>(4, list.size()));
    std::sort(drawn.begin(), drawn.end());
    std::sort(list.begin(), list.end());
    CHECK(std::unique(drawn.begin(), drawn.end()) == drawn.end());
    CHECK(std::includes(list.begin(), list.end(), drawn.begin(), drawn.end()));
  }
  CHECK(answer.Find("back")->nodes == answer.Find("into")->nodes);
  CHECK(answer.Find("back")->edge_ids == answer.Find("into")->edge_ids);
}

TEST_CASE("Of an edge type between two node types out-lists have nodes of its target type") {
  MemoryGraph both = testing::TypedGraph(30, 20, 5, /*seed=*/4);
  constexpr EdgeTypeId kBuys{0};
  testing::AddReverse(kBuys, &both);
  const RoutedGraph graph(both, 3, {0});
  const std::vector<int64_t> users = {2, 29, 2, 11};
  const QueryAnswer answer =
      Run(graph,
          "users = nodes(user, $users)\n"
          "items = neighbors(users, buys, direction=out, edge_columns=[weight], edge_ids=true)\n"
          "others = neighbors(items, buys, 3)\n",
          users);
  const StepAnswer& items = *answer.Find("items");
  CHECK(items.node_type == both.schema.FindNodeType("item"));
  CheckOutLists(both, kBuys, users, items, [](const OutEdge&) { return true; });
  REQUIRE_FALSE(items.nodes.empty());
  std::string weights;
  const int column = both.schema.edge_types[kBuys.value].FindColumn("weight");
  for (const int64_t edge : items.edge_ids) weights.append(both.edge_row(kBuys, column, edge));
  CHECK(BytesOf(items.edge_columns.at(0)) == weights);
  CHECK(answer.Find("others")->offsets.size() == items.nodes.size() + 1);
}

TEST_CASE("Edges that lead out are drawn by weight, the same over any shards") {
  const std::string text =
      "src = nodes(node, $seeds)\n"
      "some = neighbors(src, links, 500, by=weight, replace=true, direction=out, edge_ids=true)\n"
      "few = neighbors(src, links, 2, by=weight, direction=out, edge_ids=true)\n";
  const std::vector<int64_t> seeds = {7};
  const RoutedGraph whole(PricedBothWays(), 1);
  const std::unique_ptr<QueryRunner> runner = Make(whole, text);
  const std::vector<OutEdge> list = OutEdges(whole.graph(), kLinks, 7);
  std::map<int64_t, size_t> place;
  std::vector<double> weights;
  std::vector<double> alike;
  for (const OutEdge& edge : list) {
    place[edge.edge_id] = weights.size();
    weights.push_back(WeightOf(whole.graph(), edge.edge_id));
    alike.push_back(weights.back() > 0 ? 1 : 0);
  }
  std::vector<int64_t> counts(list.size());
  const RoutedGraph cut(PricedBothWays(), 4, {1, 3});
  const std::unique_ptr<QueryRunner> of_cut = Make(cut, text);
  for (uint64_t batch = 0; batch < 100; ++batch) {
    const QueryAnswer answer = Run(whole, *runner, seeds, batch);
    for (const int64_t edge : answer.steps[1].edge_ids) ++counts[place.at(edge)];
    const QueryAnswer same = Run(cut, *of_cut, seeds, batch);
    CHECK(same.steps[1].edge_ids == answer.steps[1].edge_ids);
    CHECK(same.steps[2].edge_ids == answer.steps[2].edge_ids);
  }
  const auto possible = std::count(alike.begin(), alike.end(), 1.0);
  REQUIRE(possible > 3);
  CHECK(StatisticOf(counts, weights) < ChiSquareLimit(possible - 1));
  CHECK(StatisticOf(counts, alike) > ChiSquareLimit(possible - 1));
}

TEST_CASE("A node that comes twice is drawn for apart, and so are two steps that are alike") {
  const RoutedGraph graph(Priced(), 2);
  const std::unique_ptr<QueryRunner> runner = Make(graph,
                                                   "src = nodes(node, $seeds)\n"
                                                   "one = neighbors(src, links, 2, edge_ids=true)\n"
                                                   "two = neighbors(src, links, 2, edge_ids=true)");
  int lists_alike = 0;
  int steps_alike = 0;
  for (uint64_t batch = 0; batch < 50; ++batch) {
    const QueryAnswer answer = Run(graph, *runner, {7, 7}, batch);
    lists_alike += ListOf(answer.steps[1], 0) == ListOf(answer.steps[1], 1) ? 1 : 0;
    steps_alike += answer.steps[1].edge_ids == answer.steps[2].edge_ids ? 1 : 0;
    CHECK(Run(graph, *runner, {7, 7}, batch).steps[1].edge_ids == answer.steps[1].edge_ids);
  }
  CHECK(lists_alike < 25);
  CHECK(steps_alike < 25);
}

std::vector<int64_t> CountNodes(const RoutedGraph& graph, const std::string& text,
                                const std::vector<int64_t>& seeds, size_t step) {
  const std::unique_ptr<QueryRunner> runner = Make(graph, text);
  std::vector<int64_t> counts(kNumNodes);
  for (uint64_t batch = 0; batch < 100; ++batch) {
    for (const int64_t position : Run(graph, *runner, seeds, batch).steps[step].nodes) {
      ++counts[position];
    }
  }
  return counts;
}

TEST_CASE("Nodes, and layers, are drawn by the chances that they say") {
  const RoutedGraph graph(Priced(), 3);
  std::vector<double> fame(kNumNodes);
  std::vector<double> old_fame(kNumNodes);
  std::vector<double> old(kNumNodes);
  std::vector<double> sums(kNumNodes);
  for (int64_t i = 0; i < kNumNodes; ++i) {
    fame[i] = static_cast<double>(i % 4);
    old[i] = YearOf(i) < 2010 ? 1 : 0;
    old_fame[i] = fame[i] * old[i];
  }
  const std::vector<int64_t> seeds = {1, 2, 3, 2};
  for (const int64_t seed : seeds) {
    for (const InEdge& edge : graph.graph().InEdges(kLinks, seed)) {
      sums[edge.source] += WeightOf(graph.graph(), edge.edge_id);
    }
  }
  std::vector<double> roots = sums;
  for (double& root : roots) root = std::sqrt(root);
  const auto limit_of = [](const std::vector<double>& weights) {
    const auto zeros = std::count(weights.begin(), weights.end(), 0.0);
    return ChiSquareLimit(static_cast<int64_t>(weights.size()) - zeros - 1);
  };
  const auto counts_of = [&](const std::string& step) {
    return CountNodes(graph, "src = nodes(node, $seeds)\n" + step, seeds, 1);
  };
  const std::vector<std::pair<std::string, std::vector<double>>> all = {
      {"some = nodes(node, count=10000, by=fame)", fame},
      {"some = nodes(node, count=10000, where=\"year < 2010\")", old},
      {"some = nodes(node, count=10000, by=fame, where=\"year < 2010\")", old_fame},
      {"lay = layer(src, links, 10000, by=weight)", sums},
      {"lay = layer(src, links, 10000, by=weight, square_root=true)", roots}};
  for (const auto& [step, weights] : all) {
    INFO(step);
    CHECK(StatisticOf(counts_of(step), weights) < limit_of(weights));
  }
  // What is drawn by another rule is found out.
  CHECK(StatisticOf(counts_of(all[3].first), roots) > limit_of(roots));
}

TEST_CASE("A layer tells what each chance was in proportion to") {
  const RoutedGraph graph(Priced(), 2);
  const QueryAnswer answer =
      Run(graph, "src = nodes(node, $seeds)\nlay = layer(src, links, 20)", {5, 6});
  std::map<int64_t, double> edges;
  for (const int64_t seed : {5, 6}) {
    for (const InEdge& edge : graph.graph().InEdges(kLinks, seed)) edges[edge.source] += 1;
  }
  const StepAnswer& layer = answer.steps[1];
  CHECK(layer.offsets == std::vector<int64_t>{0, 20});
  REQUIRE(layer.weights.size() == 20);
  for (size_t i = 0; i < 20; ++i) CHECK(layer.weights[i] == edges[layer.nodes[i]]);
}

TEST_CASE("Where there is nothing, lists are empty, and what goes on from them has none") {
  testing::RandomGraphOptions options;
  options.num_nodes = 5;
  options.num_edges = 0;
  const RoutedGraph graph(testing::RandomGraph(options), 2);
  const QueryAnswer answer = Run(graph,
                                 "src = nodes(node, $seeds)\n"
                                 "none = nodes(node, where=\"label > 1000\")\n"
                                 "drawn = nodes(node, count=5, where=\"label > 1000\")\n"
                                 "near = neighbors(src, links, columns=[features])\n"
                                 "read = neighbors(src, links, 2, where=\"label > 0\")\n"
                                 "far = neighbors(near, links, 3, order_by=id)\n"
                                 "lay = layer(src, links, 4)\n"
                                 "no = negatives(none, links, 3)\n",
                                 {0, 1});
  for (size_t i = 1; i < answer.steps.size(); ++i) {
    INFO(answer.steps[i].name);
    CHECK(answer.steps[i].nodes.empty());
  }
  CHECK(answer.Find("near")->offsets == std::vector<int64_t>{0, 0, 0});
  CHECK(answer.Find("far")->offsets == std::vector<int64_t>{0});
  CHECK(answer.Find("lay")->offsets == std::vector<int64_t>{0, 0});
  CHECK(answer.Find("nobody") == nullptr);
}

TEST_CASE("No negative is an edge, and each node has its own") {
  const RoutedGraph graph(Priced(), 2);
  const QueryAnswer answer =
      Run(graph, "src = nodes(node)\nno = negatives(src, links, 4, columns=[year])", {});
  const std::vector<std::vector<InEdge>> in_edges = graph.graph().InEdgesOfAll(kLinks);
  for (int64_t source = 0; source < kNumNodes; ++source) {
    const std::vector<int64_t> targets = ListOf(answer.steps[1], source);
    CHECK(targets.size() == 4);
    for (const int64_t target : targets) {
      for (const InEdge& edge : in_edges[target]) {
        CHECK(edge.source != answer.steps[0].nodes[source]);
      }
    }
  }
}

TEST_CASE("Ids of the user's are found, and those that are not there are named") {
  const RoutedGraph graph(testing::TypedGraph(6, 5, 4, /*seed=*/3), 2);
  const auto make = [&](const std::string& text) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const Query query, ParseQuery(text));
    return QueryRunner::Make(graph.router(), query, nullptr).status();
  };
  const std::string name = graph.graph().nodes[1].names[2];
  const std::unique_ptr<QueryRunner> runner = Make(graph, "a = nodes(item, [\"" + name + "\"])");
  VICINITY_ASSERT_OK_AND_ASSIGN(const QueryAnswer answer, runner->Run({}, Draw(0), nullptr));
  CHECK(answer.steps[0].nodes == std::vector<int64_t>{graph.GlobalIds(NodeTypeId{1})[2]});
  const absl::Status missing = make("a = nodes(item, [nobody])");
  CHECK(missing.code() == absl::StatusCode::kNotFound);
  CHECK(std::string(missing.message()).find("step a: no item has the id nobody") !=
        std::string::npos);
  const absl::Status wrong = make("a = nodes(user, [ada])");
  CHECK(wrong.code() == absl::StatusCode::kInvalidArgument);
  CHECK(std::string(wrong.message()).find("ids of user are integers") != std::string::npos);
}

TEST_CASE(
    "Inputs that are missing, unknown or out of range are named, and so is a shard that is away") {
  RoutedGraph graph(Priced(), 2, {1});
  const std::unique_ptr<QueryRunner> runner =
      Make(graph, "src = nodes(node, $seeds)\nnear = neighbors(src, links, 3)");
  const auto text_of = [&](const QueryInputs& inputs) {
    return std::string(runner->Run(inputs, Draw(0), nullptr).status().message());
  };
  CHECK(text_of({}).find("step src: the input $seeds is not given") != std::string::npos);
  CHECK(text_of({{"seeds", {1}}, {"more", {}}}).find("the input more is given, but no step has") !=
        std::string::npos);
  CHECK(text_of({{"seeds", {1, kNumNodes}}}).find("step src: ") != std::string::npos);
  graph.faults()->fail_after = 0;
  CHECK(text_of({{"seeds", ToGlobal(graph, kNode, {0, 1, 2, 3, 4, 5, 6, 7})}})
            .find("step near: shard 1 is away") != std::string::npos);
}

TEST_CASE("A step of too many nodes is refused before they are drawn") {
  const RoutedGraph graph(Priced(), 1);
  const std::unique_ptr<QueryRunner> runner =
      Make(graph, "src = nodes(node)\nno = negatives(src, links, 1000000, exact=false)");
  VICINITY_CHECK_CODE(runner->Run({}, Draw(0), nullptr).status(),
                      absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace vicinity

// Steps of queries that are a subgraph.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "client/query/induced_maker.h"
#include "client/query/query.h"
#include "proto/common/ids.h"
#include "tests/client/query/run_query.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

using testing::InEdge;
using testing::MemoryGraph;
using testing::RoutedGraph;
using testing::Run;

MemoryGraph Linked() {
  testing::RandomGraphOptions options;
  options.num_nodes = 80;
  options.num_edges = 2000;
  options.weights = true;
  return testing::RandomGraph(options);
}

float WeightOf(const MemoryGraph& graph, EdgeTypeId type, int64_t edge) {
  float weight = 0;
  const int column = graph.schema.edge_types[type.value].FindColumn("weight");
  std::memcpy(&weight, graph.edge_row(type, column, edge).data(), sizeof(weight));
  return weight;
}

// Each once, in the order in which they first come.
void AddNew(const std::vector<int64_t>& nodes, std::vector<int64_t>* known) {
  for (const int64_t node : nodes) {
    if (std::find(known->begin(), known->end(), node) == known->end()) known->push_back(node);
  }
}

// That the answer has all edges that weigh more than `above`, with their ids and weights.
void CheckEdges(const MemoryGraph& graph, EdgeTypeId type, const StepAnswer& step, float above) {
  std::map<int64_t, int64_t> places;
  for (size_t i = 0; i < step.nodes.size(); ++i) places[step.nodes[i]] = static_cast<int64_t>(i);
  std::vector<int64_t> sources;
  std::vector<int64_t> targets;
  std::vector<int64_t> edge_ids;
  std::vector<float> weights;
  for (size_t target = 0; target < step.targets.size(); ++target) {
    for (const InEdge& edge : graph.InEdges(type, step.targets[target])) {
      const auto source = places.find(edge.source);
      const float weight = WeightOf(graph, type, edge.edge_id);
      if (source == places.end() || !(weight > above)) continue;
      sources.push_back(source->second);
      targets.push_back(static_cast<int64_t>(target));
      edge_ids.push_back(edge.edge_id);
      weights.push_back(weight);
    }
  }
  CHECK(edge_ids.size() > 3);
  CHECK(step.edge_ids == edge_ids);
  std::vector<int64_t> edge_index = sources;
  edge_index.insert(edge_index.end(), targets.begin(), targets.end());
  CHECK(step.edge_index == edge_index);
  REQUIRE(step.edge_columns.size() == 1);
  REQUIRE(step.edge_columns[0].bytes.size() == weights.size() * sizeof(float));
  CHECK(std::memcmp(step.edge_columns[0].bytes.data(), weights.data(),
                    weights.size() * sizeof(float)) == 0);
}

TEST_CASE("A subgraph has all edges between the nodes of its steps, each node once") {
  const RoutedGraph graph(Linked(), 3, {1});
  const QueryAnswer answer = Run(
      graph,
      "src = nodes(node, $seeds)\n"
      "near = neighbors(src, links, 6)\n"
      "all = induced([src, near], links, edge_ids=true, edge_columns=[weight], columns=[label])\n"
      "heavy = induced([near, src], links, where=\"weight > 0.5\", edge_ids=true, "
      "edge_columns=[weight])\n"
      "far = neighbors(all, links, 1)\n",
      {3, 14, 15, 3, 79});
  std::vector<int64_t> nodes;
  AddNew(answer.Find("src")->nodes, &nodes);
  CHECK(nodes.size() == 4);
  AddNew(answer.Find("near")->nodes, &nodes);
  const StepAnswer& all = *answer.Find("all");
  CHECK(all.nodes == nodes);
  CHECK(all.targets == nodes);
  CHECK(all.offsets == std::vector<int64_t>{0, static_cast<int64_t>(nodes.size())});
  CheckEdges(graph.graph(), EdgeTypeId{0}, all, -1);
  CHECK(all.columns[0].num_rows == static_cast<int64_t>(nodes.size()));
  CHECK(answer.Find("far")->offsets.size() == nodes.size() + 1);
  std::vector<int64_t> others_first;
  AddNew(answer.Find("near")->nodes, &others_first);
  AddNew(answer.Find("src")->nodes, &others_first);
  CHECK(answer.Find("heavy")->nodes == others_first);
  CheckEdges(graph.graph(), EdgeTypeId{0}, *answer.Find("heavy"), 0.5);
}

TEST_CASE("An edge type between two node types joins the nodes of steps of both") {
  const RoutedGraph graph(testing::TypedGraph(40, 30, 5, /*seed=*/3), 3, {1});
  const QueryAnswer answer = Run(graph,
                                 "src = nodes(item, $seeds)\n"
                                 "buyers = neighbors(src, buys)\n"
                                 "others = neighbors(buyers, bought_by)\n"
                                 "sub = induced([others, buyers, src], buys, edge_ids=true, "
                                 "edge_columns=[weight])\n",
                                 {0, 5, 5, 29});
  const StepAnswer& sub = *answer.Find("sub");
  std::vector<int64_t> users;
  AddNew(answer.Find("buyers")->nodes, &users);
  std::vector<int64_t> items;
  AddNew(answer.Find("others")->nodes, &items);
  AddNew(answer.Find("src")->nodes, &items);
  CHECK(sub.nodes == users);
  CHECK(sub.targets == items);
  CHECK(sub.node_type == 0);
  CheckEdges(graph.graph(), EdgeTypeId{0}, sub, -1);
}

TEST_CASE("A subgraph is the same over any shards, near and far") {
  const std::string text =
      "src = nodes(node, $seeds)\n"
      "near = neighbors(src, links, 6)\n"
      "sub = induced([src, near], links, edge_ids=true, edge_columns=[weight], "
      "columns=[features])\n";
  const std::vector<int64_t> seeds = {3, 14, 15, 3, 79};
  const RoutedGraph whole(Linked(), 1);
  const StepAnswer expected = Run(whole, text, seeds, 4).steps[2];
  for (const int32_t num_shards : {2, 4, 8}) {
    INFO(num_shards << " shards");
    const RoutedGraph cut(Linked(), num_shards, {0, num_shards - 1});
    const StepAnswer step = Run(cut, text, seeds, 4).steps[2];
    CHECK(step.nodes == expected.nodes);
    CHECK(step.targets == expected.targets);
    CHECK(step.edge_index == expected.edge_index);
    CHECK(step.edge_ids == expected.edge_ids);
    CHECK(step.columns[0].bytes == expected.columns[0].bytes);
    CHECK(step.edge_columns[0].bytes == expected.edge_columns[0].bytes);
  }
}

TEST_CASE("A subgraph of no nodes has no edges, and columns of none") {
  const RoutedGraph graph(testing::TypedGraph(40, 30, 5, /*seed=*/3), 2);
  const QueryAnswer answer = Run(graph,
                                 "src = nodes(user, $seeds)\n"
                                 "away = neighbors(src, of)\n"  // the graph has no such edges
                                 "none = neighbors(away, has)\n"
                                 "sub = induced([src, none], buys, edge_columns=[weight])\n"
                                 "turned = induced(none, buys, columns=[label], edge_ids=true)\n",
                                 {0, 5, 5});
  CHECK(answer.Find("none")->nodes.empty());
  const StepAnswer& sub = *answer.Find("sub");
  CHECK(sub.nodes == std::vector<int64_t>{0, 5});
  CHECK(sub.targets.empty());
  REQUIRE(sub.edge_columns.size() == 1);
  CHECK(sub.edge_columns[0].spec.name == "weight");
  CHECK(sub.edge_columns[0].num_rows == 0);
  CHECK(sub.edge_index.empty());
  CHECK(answer.Find("turned")->nodes.empty());
  CHECK(answer.Find("turned")->edge_index.empty());
  CHECK(answer.Find("turned")->columns[0].num_rows == 0);
}

}  // namespace
}  // namespace vicinity

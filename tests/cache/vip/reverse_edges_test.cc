#include "cache/vip/reverse_edges.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cache/vip/edge_weights.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/random.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::MemoryEdges;
using testing::MemoryGraph;

// Types a and b of 50 nodes; edges are given by the test.
MemoryGraph TwoTypes(std::vector<EdgeTypeSpec> edge_types, std::vector<MemoryEdges> edges) {
  MemoryGraph graph;
  graph.nodes.resize(2);
  for (const char* name : {"a", "b"}) {
    graph.schema.node_types.emplace_back();
    graph.schema.node_types.back().name = name;
  }
  for (testing::MemoryNodes& nodes : graph.nodes) {
    nodes.keys.resize(50);
    std::iota(nodes.keys.begin(), nodes.keys.end(), uint64_t{0});
  }
  graph.schema.edge_types = std::move(edge_types);
  graph.edges = std::move(edges);
  return graph;
}

MemoryEdges RandomEdges(uint64_t seed) {
  MemoryEdges edges;
  NodeDraws draws(seed, 0);
  for (int i = 0; i < 200; ++i) {
    edges.sources.push_back(static_cast<int64_t>(draws.Below(50)));
    edges.targets.push_back(static_cast<int64_t>(draws.Below(50)));
  }
  return edges;
}

MemoryEdges TurnedRound(MemoryEdges edges) {
  std::swap(edges.sources, edges.targets);
  return edges;
}

MemoryEdges BothWays(MemoryEdges edges) {
  const MemoryEdges back = TurnedRound(edges);
  edges.sources.insert(edges.sources.end(), back.sources.begin(), back.sources.end());
  edges.targets.insert(edges.targets.end(), back.targets.begin(), back.targets.end());
  return edges;
}

// By their first column where they have columns.
EdgeWeights WeightsIn(EdgeTypeId type, const Shard& shard) {
  if (shard.edges(type).columns.empty()) return EdgeWeights();
  return EdgeWeights(BaseLists(shard, type).column(0), DType::kFloat64);
}

std::vector<int32_t> Found(const MemoryGraph& graph, const std::vector<uint8_t>& wanted) {
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 7), dir.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("graph")));
  const std::vector<int32_t> reverses = FindReverses(*dataset, wanted, WeightsIn, 1);
  CHECK(FindReverses(*dataset, wanted, WeightsIn, 3) == reverses);
  return reverses;
}

TEST_CASE("an edge type and its edges reversed are each other's reverse", "[reverse_edges]") {
  const MemoryEdges edges = RandomEdges(1);
  const MemoryGraph graph =
      TwoTypes({{0, "x", 1, {}}, {1, "y", 0, {}}, {1, "z", 0, {}}, {0, "w", 1, {}}},
               {edges, RandomEdges(2), TurnedRound(edges), edges});
  CHECK(Found(graph, {1, 1, 1, 1}) == std::vector<int32_t>{2, -1, 0, 2});
  CHECK(Found(graph, {1, 1, 0, 1}) == std::vector<int32_t>{-1, -1, -1, -1});
  CHECK(Found(graph, {0, 1, 1, 1}) == std::vector<int32_t>{-1, -1, 3, 2});
}

TEST_CASE("a symmetric edge type is its own reverse, parallel edges counted", "[reverse_edges]") {
  MemoryEdges symmetric = BothWays(RandomEdges(1));
  MemoryEdges once_more = symmetric;
  once_more.sources.push_back(3);
  once_more.targets.push_back(4);
  const MemoryGraph graph = TwoTypes(
      {{0, "x", 0, {}}, {0, "y", 0, {}}, {0, "z", 0, {}}, {1, "x", 1, {}}, {1, "none", 1, {}}},
      {RandomEdges(1), symmetric, once_more, symmetric, {}});
  CHECK(Found(graph, {1, 1, 1, 1, 1}) == std::vector<int32_t>{-1, 1, -1, 3, -1});
}

// Adds a column of weights, 1, 2, ... by the ends of each edge, whichever way it goes.
MemoryEdges Weighted(MemoryEdges edges) {
  std::string column;
  for (size_t i = 0; i < edges.sources.size(); ++i) {
    const auto [low, high] = std::minmax(edges.sources[i], edges.targets[i]);
    const double weight = static_cast<double>(1 + (7 * low + high) % 9);
    column.append(reinterpret_cast<const char*>(&weight), sizeof(weight));
  }
  edges.columns = {column};
  return edges;
}

TEST_CASE("edges reversed must have the same weights", "[reverse_edges]") {
  const ColumnSpec weight{"weight", DType::kFloat64, {}};
  const MemoryEdges edges = Weighted(RandomEdges(1));
  MemoryEdges other = TurnedRound(edges);
  other.columns[0][7] ^= 1;
  const bool same = GENERATE(false, true);
  const MemoryGraph graph = TwoTypes({{0, "x", 1, {weight}}, {1, "y", 0, {weight}}},
                                     {edges, same ? TurnedRound(edges) : other});
  CHECK(Found(graph, {1, 1}) == (same ? std::vector<int32_t>{1, 0} : std::vector<int32_t>{-1, -1}));
}

}  // namespace
}  // namespace vicinity

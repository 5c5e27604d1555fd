#include "tests/client/planning/timed_graph.h"

#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include "proto/common/ids.h"

namespace vicinity::testing {
namespace {

std::string Times(std::mt19937_64* random, int64_t count, int64_t first, int64_t last) {
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t time =
        first + static_cast<int64_t>((*random)() % static_cast<uint64_t>(last - first + 1));
    bytes.append(reinterpret_cast<const char*>(&time), sizeof(time));
  }
  return bytes;
}

int64_t TimeIn(std::string_view row) {
  int64_t time;
  std::memcpy(&time, row.data(), sizeof(time));
  return time;
}

}  // namespace

MemoryGraph TimedGraph(int64_t num_nodes, int64_t num_edges, int64_t feature_width) {
  RandomGraphOptions shape;
  shape.num_nodes = num_nodes;
  shape.num_edges = num_edges;
  shape.feature_width = feature_width;
  shape.num_classes = 0;
  MemoryGraph graph = RandomGraph(shape);
  std::mt19937_64 random(shape.seed);
  graph.schema.node_types[0].columns.push_back({"time", DType::kInt64, {}});
  graph.nodes[0].columns.push_back(Times(&random, num_nodes, 50, 99));
  graph.schema.edge_types[0].columns.push_back({"time", DType::kInt64, {}});
  graph.edges[0].columns.push_back(Times(&random, num_edges, 0, 99));
  return graph;
}

int64_t NodeTime(const MemoryGraph& graph, int64_t position) {
  const int column = graph.schema.node_types[0].FindColumn("time");
  return TimeIn(graph.row(NodeTypeId{0}, column, position));
}

int64_t EdgeTime(const MemoryGraph& graph, int64_t edge_id) {
  return TimeIn(graph.edge_row(EdgeTypeId{0}, 0, edge_id));
}

}  // namespace vicinity::testing

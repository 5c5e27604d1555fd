#include "tests/benchmark/bench_rows.h"

#include <filesystem>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "tests/benchmark/vicinity_link.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::benchmark {

std::string DatasetOfRows(const BenchOptions& options) {
  const int64_t num_rows = options.size == "full" ? 262144 : 65536;
  const std::string directory = absl::StrCat(options.data, "/rows-", num_rows);
  if (std::filesystem::exists(directory)) return directory;
  std::filesystem::create_directories(options.data);
  testing::MemoryGraph graph;
  graph.schema.node_types.resize(1);
  graph.schema.node_types[0].name = "node";
  graph.nodes.resize(1);
  graph.nodes[0].keys.resize(num_rows);
  std::iota(graph.nodes[0].keys.begin(), graph.nodes[0].keys.end(), 0);
  std::mt19937_64 random(3);
  for (const int64_t width : kRowWidths) {
    std::vector<float> values(num_rows * width / sizeof(float));
    for (float& value : values) value = static_cast<float>(random() % 65536) - 32768.0F;
    graph.nodes[0].columns.emplace_back(reinterpret_cast<const char*>(values.data()),
                                        values.size() * sizeof(float));
    graph.schema.node_types[0].columns.push_back({absl::StrCat("bytes", width),
                                                  DType::kFloat32,
                                                  {width / static_cast<int64_t>(sizeof(float))}});
  }
  graph.schema.edge_types = {{0, "links", 0, {}}};
  graph.edges.resize(1);
  Check(testing::WriteGraph(graph, directory));
  return directory;
}

}  // namespace vicinity::benchmark

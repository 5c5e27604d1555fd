#include "client/graph.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "partition/dataset/dataset.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

std::unique_ptr<Graph> OpenDirectory(const RoutedGraph& on_disk) {
  GraphOptions options;
  options.directory = on_disk.directory();
  return Value(Graph::Open(options));
}

TEST_CASE("a directory is a graph without any server", "[graph]") {
  const RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 3);
  const std::unique_ptr<Graph> graph = OpenDirectory(on_disk);
  CHECK(graph->num_shards() == 3);
  CHECK(graph->fingerprint() == on_disk.dataset().fingerprint());
  CHECK(graph->name() == on_disk.dataset().manifest().name());
  CHECK(graph->schema().node_types.size() == 3);
  CHECK(graph->num_nodes(1) == 80);
  CHECK(graph->IsLocal(0, 119));
  CHECK(graph->OwnerOf(0, 0) == 0);

  const std::vector<int64_t> users = on_disk.GlobalIds(NodeTypeId{0});
  const Rows rows = Value(graph->Fetch(0, "features", users));
  CHECK(rows.num_rows == 120);
  CHECK(rows.spec.name == "features");
  CHECK(std::string(rows.bytes.begin(), rows.bytes.end()) == on_disk.graph().nodes[0].columns[0]);
  const std::vector<int64_t> ids = Value(graph->UserIds(0, users));
  CHECK(Value(graph->Resolve(0, ids)) == users);
  const std::vector<int64_t> items = on_disk.GlobalIds(NodeTypeId{1});
  const std::vector<std::string> names = Value(graph->UserNames(1, items));
  CHECK(names == on_disk.graph().nodes[1].names);
  CHECK(Value(graph->Resolve(1, names)) == items);
  CHECK(Value(graph->NodesOf(2, Split::kNone)).size() == 20);
  CHECK(graph->traffic().calls == 0);
  CHECK(graph->traffic().rows_local > 0);
}

TEST_CASE("a draw is repeatable, and another one is another", "[graph]") {
  const RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 3);
  const std::unique_ptr<Graph> graph = OpenDirectory(on_disk);
  const SamplingSpec spec = SamplingSpec::Uniform(graph->schema(), {2, 2});
  const std::vector<int64_t> seeds = {0, 5, 17, 40, 99};
  const auto nodes = [&](const DrawId& draw) {
    return Value(graph->Sample(0, seeds, spec, draw)).nodes[1].ids;
  };
  CHECK(nodes({1, 2, 3}) == nodes({1, 2, 3}));
  CHECK(nodes({1, 2, 3}) != nodes({1, 2, 4}));
  CHECK(nodes({1, 2, 3}) != nodes({1, 3, 3}));
  CHECK(nodes({1, 2, 3}) != nodes({2, 2, 3}));
}

TEST_CASE("a column without values has rows of no bytes", "[graph]") {
  const RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 3);
  const std::unique_ptr<Graph> graph = OpenDirectory(on_disk);
  bool found = false;
  for (const ColumnSpec& column : graph->schema().node_types[1].columns) {
    if (column.row_bytes() != 0) continue;
    found = true;
    const Rows rows = Value(graph->Fetch(1, column.name, {0, 1, 2}));
    CHECK(rows.num_rows == 3);
    CHECK(rows.bytes.empty());
  }
  CHECK(found);
}

TEST_CASE("degrees are asked for by edge type", "[graph]") {
  const RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 3);
  const std::unique_ptr<Graph> graph = OpenDirectory(on_disk);
  const auto lists = on_disk.graph().InEdgesOfAll(EdgeTypeId{0});
  const NodeTypeId target{graph->schema().edge_types[0].target_type};
  const std::vector<int64_t> nodes = on_disk.GlobalIds(target);
  const std::vector<int64_t> degrees = Value(graph->Degrees(0, {nodes[7], nodes[3], nodes[7]}));
  CHECK(degrees[0] == static_cast<int64_t>(lists[7].size()));
  CHECK(degrees[1] == static_cast<int64_t>(lists[3].size()));
  CHECK(degrees[2] == degrees[0]);
  CHECK(graph->Degrees(99, {0}).error().code() == ErrorCode::kInvalidArgument);
  CHECK(graph->Degrees(0, {1 << 20}).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("a graph knows which edge joins a pair", "[graph]") {
  const RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 3);
  const std::unique_ptr<Graph> graph = OpenDirectory(on_disk);
  const auto lists = on_disk.graph().InEdgesOfAll(EdgeTypeId{0});
  const std::vector<int64_t> sources =
      on_disk.GlobalIds({graph->schema().edge_types[0].source_type});
  const std::vector<int64_t> targets =
      on_disk.GlobalIds({graph->schema().edge_types[0].target_type});
  const testing::InEdge& edge = lists[7].front();
  CHECK(Value(graph->EdgeIds(0, {sources[edge.source]}, {targets[7]})) ==
        std::vector<int64_t>{edge.edge_id});
  CHECK(graph->EdgeIds(99, {0}, {0}).error().code() == ErrorCode::kInvalidArgument);
  CHECK(graph->EdgeIds(0, {1 << 20}, {0}).error().code() == ErrorCode::kInvalidArgument);
  CHECK(graph->EdgeIds(0, {0}, {}).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("personalised PageRank goes by the weights that edges have", "[graph]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 4;
  options.num_edges = 3;
  options.weights = true;
  testing::MemoryGraph memory = testing::RandomGraph(options);
  memory.edges[0].sources = {1, 2, 3};
  memory.edges[0].targets = {0, 0, 0};
  const float weights[] = {3, 1, 0};
  REQUIRE(memory.edges[0].columns[0].size() == sizeof(weights));
  std::memcpy(memory.edges[0].columns[0].data(), weights, sizeof(weights));
  const RoutedGraph on_disk(memory, 2);
  const std::unique_ptr<Graph> graph = OpenDirectory(on_disk);
  const std::vector<int64_t> nodes = on_disk.GlobalIds(NodeTypeId{0});
  PprSpec spec;
  spec.weighted_by = "weight";
  spec.alpha = 0.5;
  spec.top = 4;
  const PprScores ranked = Value(graph->PersonalizedPageRank(0, {nodes[0], nodes[2]}, spec));
  CHECK(ranked.nodes == std::vector<int64_t>{nodes[0], nodes[1], nodes[2], -1,  //
                                             nodes[2], -1, -1, -1});
  CHECK(ranked.scores == std::vector<double>{0.5, 0.375, 0.125, 0, 1, 0, 0, 0});
  CHECK(ranked.residuals == std::vector<double>{0, 0});
}

TEST_CASE("what a graph counts has names", "[graph]") {
  const RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 3);
  const std::unique_ptr<Graph> graph = OpenDirectory(on_disk);
  const auto value = [&](const std::string& name) {
    for (const MetricValue& metric : graph->metrics()) {
      if (metric.name == name && metric.is_counter) return metric.value;
    }
    return -1.0;
  };
  CHECK(value("vicinity_client_rows_local_total") == 0);
  Value(graph->Fetch(0, graph->schema().node_types[0].columns[0].name, {1, 2, 3}));
  CHECK(value("vicinity_client_rows_local_total") == 3);
  CHECK(value("vicinity_client_rpcs_total") == 0);
}

TEST_CASE("owners of many nodes are those of each, and ids out of range are named", "[graph]") {
  const RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 3);
  const std::unique_ptr<Graph> graph = OpenDirectory(on_disk);
  std::vector<int64_t> nodes;
  std::vector<int32_t> expected;
  for (int32_t shard = 2; shard >= 0; --shard) {
    for (const int64_t node : Value(graph->NodesOf(0, Split::kNone, {shard}))) {
      nodes.push_back(node);
      expected.push_back(shard);
    }
  }
  CHECK(nodes.size() == 120);
  CHECK(Value(graph->OwnersOf(0, nodes)) == expected);
  CHECK(Value(graph->AreLocal(0, nodes)) == std::vector<uint8_t>(120, 1));
  CHECK(Value(graph->OwnersOf(0, {})).empty());
  for (const int64_t wrong : {int64_t{-1}, int64_t{120}}) {
    const Error refused = graph->OwnersOf(0, {0, wrong}).error();
    CHECK(refused.code() == ErrorCode::kInvalidArgument);
    CHECK_THAT(refused.message(), Catch::EndsWith(": " + std::to_string(wrong)));
    CHECK(graph->AreLocal(0, {0, wrong}).error().code() == ErrorCode::kInvalidArgument);
  }
  CHECK(graph->OwnersOf(99, {0}).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("stored rankings can be read", "[graph]") {
  RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 2);
  on_disk.Rank("default");
  const std::unique_ptr<Graph> graph = OpenDirectory(on_disk);
  const RankedList ranked = Value(graph->Ranked("default", {0, 1}, 0, 4));
  CHECK(ranked.nodes.size() == 4);
  CHECK(ranked.probabilities.front() == 1.0f);
  CHECK(graph->Ranked("other", {0}, 0).error().code() == ErrorCode::kNotFound);
}

TEST_CASE("options that cannot be are refused", "[graph]") {
  const RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 2);
  const testing::TempDir folder;
  const auto code = [](const GraphOptions& options) { return Graph::Open(options).error().code(); };
  GraphOptions options;
  CHECK(code(options) == ErrorCode::kInvalidArgument);
  options.directory = folder.File("nothing");
  CHECK(code(options) == ErrorCode::kNotFound);
  options.cluster_file = "cluster.textproto";
  CHECK(code(options) == ErrorCode::kInvalidArgument);
  options.directory.clear();
  options.cluster_file = folder.File("nothing.textproto");
  CHECK(code(options) == ErrorCode::kNotFound);
  options = GraphOptions();
  options.directory = on_disk.directory();
  options.channels_per_server = 0;
  CHECK(code(options) == ErrorCode::kInvalidArgument);
  options.channels_per_server = 1;
  options.call_timeout = std::chrono::milliseconds(0);
  CHECK(code(options) == ErrorCode::kInvalidArgument);
  options = GraphOptions();
  options.directory = on_disk.directory();
  options.async_threads = GENERATE(-1, 0, 1025);
  CHECK(code(options) == ErrorCode::kInvalidArgument);
  options.async_threads = 1;
  options.max_async_calls = 0;
  CHECK(code(options) == ErrorCode::kInvalidArgument);
}

TEST_CASE("a graph that goes answers all that was asked of it, once each", "[graph]") {
  constexpr int kThreads = 3;
  constexpr int kEach = 40;
  const RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 3);
  GraphOptions options;
  options.directory = on_disk.directory();
  options.max_async_calls = kThreads * kEach;
  std::unique_ptr<Graph> graph = Value(Graph::Open(options));
  SampleRequest sample;
  sample.seeds = {{0, {0, 5, 17, 40, 99}}};
  sample.spec = SamplingSpec::Uniform(graph->schema(), {2, 2});
  const std::vector<int64_t> nodes =
      Value(graph->Sample(sample.seeds, sample.spec, {})).nodes[1].ids;
  std::atomic<int> refused{0};
  std::vector<std::atomic<int>> told(size_t{kThreads} * kEach);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t * kEach; i < (t + 1) * kEach; ++i) {
        const Result<AsyncCall> call =
            graph->SampleAsync(sample, [&, i](const Result<SampledGraph>& sampled) {
              ++told[i];
              if (sampled.ok() ? sampled->nodes[1].ids != nodes
                               : sampled.error().code() != ErrorCode::kCancelled) {
                ++wrong;
              }
            });
        if (!call.ok()) ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  graph.reset();
  CHECK(refused == 0);
  CHECK(wrong == 0);
  for (const std::atomic<int>& times : told) CHECK(times == 1);
}

TEST_CASE("graphs come and go, several in a process", "[graph]") {
  const RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 2);
  std::vector<std::unique_ptr<Graph>> graphs;
  for (int i = 0; i < 20; ++i) graphs.push_back(OpenDirectory(on_disk));
  for (const auto& graph : graphs) CHECK(graph->num_nodes(0) == 120);
}

}  // namespace
}  // namespace vicinity

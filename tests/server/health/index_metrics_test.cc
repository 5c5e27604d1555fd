#include "server/health/index_metrics.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/writing/index_builder.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/telemetry/registry.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("the indexes of served shards are counted, and of no others", "[index_metrics]") {
  const testing::TempDir folder;
  testing::RandomGraphOptions shape;
  shape.weights = true;
  const testing::MemoryGraph graph = testing::RandomGraph(shape);
  VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 3, 1), folder.File("g")));
  ColumnToIndex label;
  label.column = graph.schema.node_types[0].FindColumn("label");
  ColumnToIndex weight;
  weight.of_edges = true;
  weight.column = graph.schema.edge_types[0].FindColumn("weight");
  VICINITY_REQUIRE_OK(BuildIndexes(folder.File("g"), {label, weight}, {}, NoProgress()));
  Dataset::Options options;
  options.shards = {ShardId{0}, ShardId{2}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(folder.File("g"), options));

  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  AddIndexMetrics(*dataset, &group);
  std::vector<std::string> rows;
  int num_bytes = 0;
  for (const MetricRegistry::Reading& reading : registry.Read()) {
    if (reading.metric.name == kIndexRowsMetric) {
      rows.push_back(reading.labels[0].second + " " + reading.labels[1].second + " " +
                     reading.labels[2].second + " " +
                     std::to_string(static_cast<int>(reading.value)));
      continue;
    }
    CHECK(reading.metric.name == kIndexBytesMetric);
    CHECK(reading.value > 0);
    ++num_bytes;
  }
  CHECK(num_bytes == 4);
  std::vector<std::string> expected;
  for (const ShardId shard : {ShardId{0}, ShardId{2}}) {
    const Shard& open = *dataset->shard(shard);
    const std::string number = std::to_string(shard.value);
    expected.push_back(number + " node label " +
                       std::to_string(open.nodes(NodeTypeId{0}).num_nodes()));
    expected.push_back(number + " node:links:node weight " +
                       std::to_string(open.edges(EdgeTypeId{0}).num_edges()));
  }
  CHECK(rows == expected);
}

TEST_CASE("a dataset without indexes has no such metrics", "[index_metrics]") {
  const testing::TempDir folder;
  const testing::MemoryGraph graph = testing::RandomGraph({});
  VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 1), folder.File("g")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(folder.File("g")));
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  AddIndexMetrics(*dataset, &group);
  CHECK(registry.Read().empty());
}

}  // namespace
}  // namespace vicinity

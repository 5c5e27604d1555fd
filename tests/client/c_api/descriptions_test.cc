#include "client/c_api/descriptions.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/graph.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "tests/client/c_api/open_graph.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::c_api {
namespace {

using nlohmann::json;

TEST_CASE("a graph is described by what its schema says", "[descriptions]") {
  const testing::OpenGraph open;
  const Schema& schema = open.plain().schema();
  const json described = json::parse(Describe(open.plain()));
  CHECK(described["name"] == open.plain().name());
  CHECK(std::stoull(std::string(described["fingerprint"]), nullptr, 16) ==
        open.plain().fingerprint());
  CHECK(described["num_shards"] == 2);
  REQUIRE(described["node_types"].size() == schema.node_types.size());
  for (size_t i = 0; i < schema.node_types.size(); ++i) {
    const NodeTypeSpec& type = schema.node_types[i];
    const json& node_type = described["node_types"][i];
    CHECK(node_type["name"] == type.name);
    CHECK(node_type["num_nodes"] == open.plain().num_nodes(static_cast<int32_t>(i)));
    CHECK(node_type["label_column"] == type.label_column);
    CHECK(node_type["split_column"] == type.split_column);
    CHECK(node_type["target_column"] == type.target_column);
    CHECK(node_type["num_classes"] == type.num_classes);
    REQUIRE(node_type["ragged_columns"].size() == type.ragged.size());
    for (size_t c = 0; c < type.ragged.size(); ++c) {
      CHECK(node_type["ragged_columns"][c]["name"] == type.ragged[c].name);
      CHECK(node_type["ragged_columns"][c]["dtype"] == DTypeName(type.ragged[c].dtype));
      CHECK(node_type["ragged_columns"][c]["num_columns"] == type.ragged[c].num_columns);
    }
    REQUIRE(node_type["columns"].size() == type.columns.size());
    for (size_t c = 0; c < type.columns.size(); ++c) {
      CHECK(node_type["columns"][c]["name"] == type.columns[c].name);
      CHECK(node_type["columns"][c]["dtype"] == DTypeName(type.columns[c].dtype));
      CHECK(node_type["columns"][c]["shape"] == type.columns[c].shape);
    }
  }
  REQUIRE(described["edge_types"].size() == schema.edge_types.size());
  for (size_t i = 0; i < schema.edge_types.size(); ++i) {
    CHECK(described["edge_types"][i]["name"] == schema.EdgeTypeName(static_cast<int>(i)));
    CHECK(described["edge_types"][i]["source_type"] == schema.edge_types[i].source_type);
    CHECK(described["edge_types"][i]["target_type"] == schema.edge_types[i].target_type);
    CHECK(described["edge_types"][i]["reverse_type"] == -1);
  }
}

TEST_CASE("of an edge type it is told which has its edges the other way round", "[descriptions]") {
  testing::MemoryGraph both = testing::TypedGraph(6, 5, 4, /*seed=*/2);
  testing::AddReverse(EdgeTypeId{0}, &both);
  const testing::RoutedGraph on_disk(both, 1);
  GraphOptions options;
  options.directory = on_disk.directory();
  Result<std::unique_ptr<Graph>> graph = Graph::Open(options);
  REQUIRE(graph.ok());
  const json edge_types = json::parse(Describe(**graph))["edge_types"];
  const size_t added = edge_types.size() - 1;
  CHECK(edge_types[0]["reverse_type"] == added);
  CHECK(edge_types[added]["reverse_type"] == 0);
  CHECK(edge_types[1]["reverse_type"] == -1);
}

TEST_CASE("stats are described field by field", "[descriptions]") {
  LoaderStats stats;
  StageTime stage;
  stage.stage = "fetch";
  stage.num_threads = 2;
  stage.batches = 3;
  stage.busy_seconds = 0.5;
  stage.starved_seconds = 1.5;
  stage.blocked_seconds = 2.5;
  stage.rows = 4;
  stats.stages = {stage};
  stats.wall_seconds = 9.25;
  stats.nodes = 5;
  stats.rows_local = 6;
  stats.rows_cached = 7;
  stats.rows_remote = 8;
  stats.bytes_remote = 9;
  stats.cache_rows = 10;
  stats.cache_bytes = 11;
  stats.ranked_by = "default";
  stats.device_bytes = 12;
  const json expected = json::parse(R"({
      "stages": [{"stage": "fetch", "num_threads": 2, "batches": 3, "busy_seconds": 0.5,
                  "starved_seconds": 1.5, "blocked_seconds": 2.5, "rows": 4}],
      "wall_seconds": 9.25, "nodes": 5, "rows_local": 6, "rows_cached": 7, "rows_remote": 8,
      "bytes_remote": 9, "cache_rows": 10, "cache_bytes": 11, "ranked_by": "default", "device_bytes": 12})");
  CHECK(json::parse(Describe(stats)) == expected);
}

TEST_CASE("traffic is described field by field", "[descriptions]") {
  TrafficStats stats;
  stats.calls = 1;
  stats.sampled_edges_local = 2;
  stats.sampled_edges_remote = 3;
  stats.rows_local = 4;
  stats.rows_remote = 5;
  stats.bytes_sent = 6;
  stats.bytes_received = 7;
  stats.bytes_copied = 8;
  stats.shard_calls = 9;
  stats.attempts = 10;
  stats.retries = 11;
  stats.hedges = 12;
  stats.hedge_wins = 13;
  stats.quarantines = 14;
  stats.bulk_tcp_calls = 15;
  stats.bulk_unix_calls = 16;
  stats.bulk_tcp_bytes_received = 17;
  stats.bulk_unix_bytes_received = 18;
  const json expected = json::parse(R"({
      "calls": 1, "sampled_edges_local": 2, "sampled_edges_remote": 3, "rows_local": 4,
      "rows_remote": 5, "bytes_sent": 6, "bytes_received": 7, "bytes_copied": 8, "shard_calls": 9,
      "attempts": 10, "retries": 11, "hedges": 12, "hedge_wins": 13, "quarantines": 14,
      "bulk_tcp_calls": 15, "bulk_unix_calls": 16, "bulk_tcp_bytes_received": 17,
      "bulk_unix_bytes_received": 18})");
  CHECK(json::parse(Describe(stats)) == expected);
}

TEST_CASE("metrics are described with their labels", "[descriptions]") {
  const std::vector<MetricValue> metrics = {{"n_total", "h", true, {{"stage", "fetch"}}, 2.5}};
  CHECK(json::parse(Describe(metrics)) == json::parse(R"([{"name": "n_total", "help": "h",
      "is_counter": true, "labels": {"stage": "fetch"}, "value": 2.5}])"));
}

}  // namespace
}  // namespace vicinity::c_api

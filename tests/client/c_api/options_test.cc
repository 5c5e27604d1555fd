#include "client/c_api/options.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/options/option_json.h"
#include "client/options/options_table.h"
#include "tests/client/options/other_value.h"

namespace vicinity::c_api {
namespace {

using nlohmann::ordered_json;

Schema TwoEdgeTypes() {
  Schema schema;
  schema.node_types.resize(1);
  schema.edge_types.resize(2);
  return schema;
}

TEST_CASE("graph options are read by the names of their fields", "[options]") {
  const Result<GraphOptions> options = ParseGraphOptions(R"({
      "cluster_file": "c", "directory": "d", "local_shards": [1, 2], "connect_timeout_ms": 1,
      "call_timeout_ms": 2, "call_budget_ms": 3, "hedge": false, "channels_per_server": 4,
      "client_name": "n", "wire_precision": "bfloat16", "transport": "bulk",
      "credentials": {"ca": "a", "certificate": "b", "key": "k", "token_file": "t",
                      "allow_plaintext": true}})");
  INFO(options.error().message());
  REQUIRE(options.ok());
  CHECK(options->cluster_file == "c");
  CHECK(options->directory == "d");
  CHECK(options->local_shards == std::vector<int32_t>{1, 2});
  CHECK(options->connect_timeout == std::chrono::milliseconds(1));
  CHECK(options->call_timeout == std::chrono::milliseconds(2));
  CHECK(options->call_budget == std::chrono::milliseconds(3));
  CHECK_FALSE(options->hedge);
  CHECK(options->channels_per_server == 4);
  CHECK(options->client_name == "n");
  CHECK(options->wire_precision == WirePrecision::kBfloat16);
  CHECK(options->transport == Transport::kBulk);
  CHECK(options->credentials.ca == "a");
  CHECK(options->credentials.certificate == "b");
  CHECK(options->credentials.key == "k");
  CHECK(options->credentials.token_file == "t");
  CHECK(options->credentials.allow_plaintext);
}

TEST_CASE("loader options are read by the names of their fields", "[options]") {
  const Result<LoaderOptions> options = ParseLoaderOptions(TwoEdgeTypes(), R"({
      "fanouts": [5, -1], "replace": true, "disjoint": true, "expansion": "new_nodes",
      "subgraph": "induced",
      "weighted_by": "w", "seed_type": "s", "split": "test", "batch_size": 1, "run_seed": 2,
      "trainer": 3, "num_trainers": 4, "shuffle": false, "drop_last": true, "seed_policy": "home", "homes": [[0], [1, 2]],
      "columns": [{"node_type": "n", "column": "c"}],
      "edge_columns": [{"edge_type": "e", "column": "d"}], "labels": false, "edge_ids": true,
      "cache": "auto", "cache_rows": 5, "cache_bytes": 6, "ranking": "r", "fetch_ahead": 7,
      "window_bytes": 8, "sample_ahead": 9, "sample_threads": 10, "fetch_threads": 11,
      "batch_timeout_ms": 12, "placement": "device",
      "device": {"kind": "host", "ordinal": 1, "home_bytes": 13, "pin_home": false, "batches": 14,
                 "staging_bytes": 15}})");
  INFO(options.error().message());
  REQUIRE(options.ok());
  CHECK(options->sampling.fanouts == std::vector<std::vector<int64_t>>{{5, 5}, {-1, -1}});
  CHECK(options->sampling.replace);
  CHECK(options->sampling.disjoint);
  CHECK(options->sampling.expansion == Expansion::kNewNodes);
  CHECK(options->sampling.subgraph == Subgraph::kInduced);
  CHECK(options->sampling.weighted_by == "w");
  CHECK(options->seed_type == "s");
  CHECK(options->split == Split::kTest);
  CHECK(options->batch_size == 1);
  CHECK(options->run_seed == 2);
  CHECK(options->trainer == 3);
  CHECK(options->num_trainers == 4);
  CHECK_FALSE(options->shuffle);
  CHECK(options->seed_policy == SeedPolicy::kHome);
  CHECK(options->drop_last);
  CHECK(options->homes == std::vector<std::vector<int32_t>>{{0}, {1, 2}});
  REQUIRE(options->columns.size() == 1);
  CHECK(options->columns[0].node_type == "n");
  CHECK(options->columns[0].column == "c");
  REQUIRE(options->edge_columns.size() == 1);
  CHECK(options->edge_columns[0].edge_type == "e");
  CHECK(options->edge_columns[0].column == "d");
  CHECK_FALSE(options->labels);
  CHECK(options->edge_ids);
  CHECK(options->cache == CachePolicy::kAuto);
  CHECK(options->cache_rows == 5);
  CHECK(options->cache_bytes == 6);
  CHECK(options->ranking == "r");
  CHECK(options->fetch_ahead == 7);
  CHECK(options->window_bytes == 8);
  CHECK(options->sample_ahead == 9);
  CHECK(options->sample_threads == 10);
  CHECK(options->fetch_threads == 11);
  CHECK(options->batch_timeout == std::chrono::milliseconds(12));
  CHECK(options->placement == Placement::kDevice);
  CHECK(options->device.kind == DeviceKind::kHost);
  CHECK(options->device.ordinal == 1);
  CHECK(options->device.home_bytes == 13);
  CHECK_FALSE(options->device.pin_home);
  CHECK(options->device.batches == 14);
  CHECK(options->device.staging_bytes == 15);
}

// What the table says of options that were read from `given`, whatever their type.
template <typename Options>
ordered_json ValuesOf(Result<Options> read) {
  INFO(read.error().message());
  REQUIRE(read.ok());
  ordered_json values;
  for (const Option& option : OptionsOf(&*read)) values[option.name] = ValueOf(option.field);
  return values;
}

Result<GraphOptions> Read(const ordered_json& given, GraphOptions*) {
  return ParseGraphOptions(given.dump().c_str());
}

Result<LoaderOptions> Read(ordered_json given, LoaderOptions*) {
  if (!given.contains("fanouts")) given["fanouts"] = ordered_json::array();
  return ParseLoaderOptions(TwoEdgeTypes(), given.dump().c_str());
}

TEMPLATE_TEST_CASE("every option of the table is read, and absent ones are as made", "[options]",
                   GraphOptions, LoaderOptions) {
  TestType made;
  ordered_json defaults;
  ordered_json others;
  for (const Option& option : OptionsOf(&made)) {
    defaults[option.name] = ValueOf(option.field);
    others[option.name] = testing::OtherValue(option);
    CHECK(others[option.name] != defaults[option.name]);
  }
  CHECK(ValuesOf(Read(ordered_json::object(), &made)) == defaults);
  CHECK(ValuesOf(Read(defaults, &made)) == defaults);
  CHECK(ValuesOf(Read(others, &made)) == others);
}

TEMPLATE_TEST_CASE("an unknown name's error lists all that there are", "[options]", GraphOptions,
                   LoaderOptions) {
  TestType made;
  const Error error = Read({{"no_such", 1}}, &made).error();
  CHECK(error.code() == ErrorCode::kInvalidArgument);
  CHECK_THAT(error.message(), Catch::Contains("no_such"));
  for (const Option& option : OptionsOf(&made)) {
    CHECK_THAT(error.message(), Catch::Contains(' ' + option.name));
  }
}

TEST_CASE("fanouts may differ by edge type", "[options]") {
  const Result<LoaderOptions> options =
      ParseLoaderOptions(TwoEdgeTypes(), R"({"fanouts": [[1, 2], [0, 3]]})");
  REQUIRE(options.ok());
  CHECK(options->sampling.fanouts == std::vector<std::vector<int64_t>>{{1, 2}, {0, 3}});
}

TEST_CASE("options that are wrong are refused, by name", "[options]") {
  const auto message = [](const std::string& json) {
    const Result<LoaderOptions> options = ParseLoaderOptions(TwoEdgeTypes(), json.c_str());
    CHECK(options.error().code() == ErrorCode::kInvalidArgument);
    return options.error().message();
  };
  CHECK_THAT(message("{}"), Catch::Contains("fanouts"));
  CHECK_THAT(message(R"({"fanouts": 3})"), Catch::Contains("fanouts"));
  CHECK_THAT(message(R"({"fanouts": [1], "batchsize": 3})"), Catch::Contains("batch_size"));
  CHECK_THAT(message(R"({"fanouts": [1], "columns": {}})"), Catch::Contains("columns"));
  CHECK_THAT(message(R"({"fanouts": [1], "columns": ["c"]})"), Catch::Contains("columns"));
  CHECK_THAT(message(R"({"fanouts": [1], "columns": [{"name": "c"}]})"),
             Catch::Contains("node_type"));
  CHECK_THAT(ParseGraphOptions(R"({"credentials": {"tokens": "t"}})").error().message(),
             Catch::Contains("token_file"));
}

TEST_CASE("a writer's options are read", "[options]") {
  CHECK(ParseWriterOptions("{}")->durability == Durability::kSync);
  const Result<WriterOptions> options =
      ParseWriterOptions(R"({"durability": "buffered", "give_up_after_ms": 250})");
  REQUIRE(options.ok());
  CHECK(options->durability == Durability::kBuffered);
  CHECK(options->give_up_after == std::chrono::milliseconds(250));
  CHECK_THAT(ParseWriterOptions(R"({"durability": "never"})").error().message(),
             Catch::Contains("buffered"));
}

TEST_CASE("splits have names", "[options]") {
  CHECK(*ParseSplit("train") == Split::kTrain);
  CHECK(*ParseSplit("validation") == Split::kValidation);
  CHECK(*ParseSplit("test") == Split::kTest);
  CHECK(*ParseSplit("") == Split::kNone);
  CHECK(ParseSplit("Train").error().code() == ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity::c_api

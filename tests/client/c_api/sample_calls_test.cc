// The calls of client/c_api/vicinity.h that concern single samples.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "tests/client/c_api/open_graph.h"

namespace vicinity {
namespace {

using testing::BatchPtr;
using testing::OpenGraph;
using testing::PartOf;
using testing::RequireOk;
using testing::ValuesOf;

const std::vector<int64_t> kSeeds = {5, 3, 5};

BatchPtr Sample(const OpenGraph& open, const std::string& options) {
  VicinityBatch* batch = nullptr;
  const VicinitySeedNodes seeds = {"user", kSeeds.data(), 3, nullptr};
  RequireOk(vicinity_graph_sample(open.graph(), &seeds, 1, options.c_str(), &batch));
  return BatchPtr(batch);
}

TEST_CASE("a sample is that of the C++ interface", "[c_api]") {
  const OpenGraph open;
  const BatchPtr batch = Sample(
      open, R"({"fanouts": [4, 3], "run_seed": 7, "epoch": 2, "step": 9, "edge_ids": true})");
  const SamplingSpec spec = SamplingSpec::Uniform(open.plain().schema(), {4, 3});
  const SampledGraph expected = *open.plain().Sample(0, kSeeds, spec, {7, 2, 9}, EdgeDetail(true));
  VicinityBatchInfo info = {};
  info.struct_size = sizeof(info);
  RequireOk(vicinity_batch_info(batch.get(), &info));
  CHECK(info.epoch == 2);
  CHECK(info.step == 9);
  CHECK(info.num_hops == 2);
  CHECK(info.has_labels == 0);
  for (int32_t type = 0; type < info.num_node_types; ++type) {
    CHECK(ValuesOf<int64_t>(*PartOf(batch.get(), VICINITY_NODES, type)) ==
          expected.nodes[type].ids);
  }
  CHECK(ValuesOf<int32_t>(*PartOf(batch.get(), VICINITY_SEEDS)) == expected.seeds[0].positions);
  int32_t block = 0;
  for (const std::vector<Block>& hop : expected.hops) {
    for (const Block& each : hop) {
      CHECK(ValuesOf<int32_t>(*PartOf(batch.get(), VICINITY_BLOCK_SOURCES, block)) == each.sources);
      CHECK(ValuesOf<int64_t>(*PartOf(batch.get(), VICINITY_BLOCK_EDGE_IDS, block)) ==
            each.edge_ids);
      ++block;
    }
  }
  CHECK(info.num_blocks == block);
}

TEST_CASE("a sample brings the columns of nodes and edges that it is asked for", "[c_api]") {
  const OpenGraph open;
  const std::string weight = open.plain().schema().edge_types[0].weight_column;
  const BatchPtr batch =
      Sample(open, R"({"fanouts": [4, 3], "columns": [{"node_type": "item", "column": "features"}],
                "edge_columns": [{"edge_type": "user:buys:item", "column": ")" +
                       weight + "\"}]}");
  VicinityBatchInfo info = {};
  info.struct_size = sizeof(info);
  RequireOk(vicinity_batch_info(batch.get(), &info));
  REQUIRE(info.num_columns == 1);
  const std::vector<int64_t> items = ValuesOf<int64_t>(*PartOf(batch.get(), VICINITY_NODES, 1));
  const Rows rows = *open.plain().Fetch(1, "features", items);
  CHECK(ValuesOf<char>(*PartOf(batch.get(), VICINITY_COLUMN)) ==
        std::vector<char>(rows.bytes.begin(), rows.bytes.end()));

  const SamplingSpec spec = SamplingSpec::Uniform(open.plain().schema(), {4, 3});
  const SampledGraph graph =
      *open.plain().Sample(0, kSeeds, spec, {}, EdgeDetail(false, /*want_positions=*/true));
  const std::vector<EdgeRows> expected = *open.plain().FetchEdges(graph, 0, weight);
  REQUIRE(info.num_edge_columns == static_cast<int32_t>(expected.size()));
  REQUIRE(!expected.empty());
  for (int32_t i = 0; i < info.num_edge_columns; ++i) {
    CHECK(ValuesOf<char>(*PartOf(batch.get(), VICINITY_EDGE_COLUMN, i)) ==
          std::vector<char>(expected[i].bytes.begin(), expected[i].bytes.end()));
  }
}

TEST_CASE("a sample may begin with lists of several types", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> items = {4, 4};
  const VicinitySeedNodes seeds[] = {{"user", kSeeds.data(), 3, nullptr},
                                     {"item", items.data(), 2, nullptr}};
  VicinityBatch* given = nullptr;
  RequireOk(vicinity_graph_sample(open.graph(), seeds, 2, R"({"fanouts": [4]})", &given));
  const BatchPtr batch(given);
  const SamplingSpec spec = SamplingSpec::Uniform(open.plain().schema(), {4});
  const SampledGraph expected = *open.plain().Sample({{0, kSeeds}, {1, items}}, spec, {});
  for (int32_t list = 0; list < 2; ++list) {
    CHECK(ValuesOf<int32_t>(*PartOf(batch.get(), VICINITY_SEEDS, list)) ==
          expected.seeds[list].positions);
    CHECK(ValuesOf<int64_t>(*PartOf(batch.get(), VICINITY_NODES, list)) ==
          expected.nodes[list].ids);
  }
}

TEST_CASE("times of seeds reach the sampler", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> times = {1, 2, 3};
  const VicinitySeedNodes seeds = {"user", kSeeds.data(), 3, times.data()};
  VicinityBatch* batch = nullptr;
  // The graph has no times, and the error says that it was asked for them.
  CHECK(vicinity_graph_sample(open.graph(), &seeds, 1,
                              R"({"fanouts": [4], "disjoint": true, "time_column": "when"})",
                              &batch) == VICINITY_INVALID_ARGUMENT);
  CHECK_THAT(std::string(vicinity_last_error()), Catch::Contains("when"));
}

TEST_CASE("wrong samples are refused with a text", "[c_api]") {
  const OpenGraph open;
  VicinityBatch* batch = nullptr;
  const auto code = [&](const char* options, int64_t seed = 5) {
    const VicinitySeedNodes seeds = {"user", &seed, 1, nullptr};
    return vicinity_graph_sample(open.graph(), &seeds, 1, options, &batch);
  };
  const int64_t beyond = int64_t{1} << 40;
  CHECK(code("{}") == VICINITY_INVALID_ARGUMENT);
  CHECK(code(R"({"fanouts": [4], "batch_size": 3})") == VICINITY_INVALID_ARGUMENT);
  CHECK_THAT(std::string(vicinity_last_error()), Catch::Contains("batch_size"));
  CHECK(code(R"({"fanouts": [4], "step": -1})") == VICINITY_INVALID_ARGUMENT);
  CHECK(code(R"({"fanouts": [4]})", beyond) == VICINITY_INVALID_ARGUMENT);
  CHECK(code(R"({"fanouts": [4], "columns": [{"node_type": "users", "column": "features"}]})") ==
        VICINITY_NOT_FOUND);
  CHECK(code(R"({"fanouts": [4], "edge_columns": [{"edge_type": "buys", "column": "w"}]})") ==
        VICINITY_NOT_FOUND);
  CHECK(code(nullptr) == VICINITY_INVALID_ARGUMENT);
  const VicinitySeedNodes users = {"user", &beyond, 1, nullptr},
                          unknown = {"users", &beyond, 1, nullptr};
  const VicinitySeedNodes nameless = {nullptr, &beyond, 1, nullptr};
  CHECK(vicinity_graph_sample(nullptr, &users, 1, "{}", &batch) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_sample(open.graph(), nullptr, 1, "{}", &batch) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_sample(open.graph(), &users, 0, "{}", &batch) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_sample(open.graph(), &nameless, 1, "{}", &batch) ==
        VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_graph_sample(open.graph(), &unknown, 1, "{}", &batch) == VICINITY_NOT_FOUND);
  CHECK(batch == nullptr);
}

}  // namespace
}  // namespace vicinity

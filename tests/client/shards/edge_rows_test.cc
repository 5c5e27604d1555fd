#include "client/shards/edge_rows.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/shard_router.h"
#include "sampler/minibatch_sampler.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr NodeTypeId kUser{0};
constexpr EdgeTypeId kBuys{0};

SampledGraph Sampled(const RoutedGraph& graph, EdgeDetail detail) {
  const ShardRouter& router = graph.router();
  RoutedSource source(router, {3, 1, 4}, nullptr);
  MinibatchSampler sampler(router.schema(), router.book());
  std::vector<int64_t> seeds = graph.GlobalIds(kUser);
  seeds.resize(30);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      SampledGraph sampled, sampler.Sample(SamplingSpec::Uniform(router.schema(), {3, 4, 2}), kUser,
                                           seeds, detail, &source));
  return sampled;
}

TEST_CASE("each sampled edge has its own row, wherever it is", "[edge_rows]") {
  const int32_t num_shards = GENERATE(1, 4);
  const std::vector<int32_t> far = GENERATE(std::vector<int32_t>{}, std::vector<int32_t>{0, 2});
  const RoutedGraph graph(testing::TypedGraph(120, 90, 20, 2), num_shards, far);
  const SampledGraph sampled = Sampled(graph, {true, true});
  const std::vector<EdgeColumnPlan> plans = {{kBuys, 0}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<EdgeRows> columns,
                                FetchEdgeRows(graph.router(), sampled, plans, nullptr));
  int64_t bytes = 0;
  int64_t checked = 0;
  size_t next = 0;
  for (size_t hop = 0; hop < sampled.hops.size(); ++hop) {
    for (const Block& block : sampled.hops[hop]) {
      if (block.edge_type != kBuys.value) continue;
      REQUIRE(next < columns.size());
      const EdgeRows& rows = columns[next++];
      CHECK(rows.hop == static_cast<int32_t>(hop));
      CHECK(rows.edge_type == kBuys.value);
      CHECK(rows.spec.name == "weight");
      REQUIRE(rows.num_rows == static_cast<int64_t>(block.sources.size()));
      bytes += static_cast<int64_t>(rows.bytes.size());
      for (int64_t i = 0; i < rows.num_rows; ++i, ++checked) {
        const std::string_view row(rows.bytes.data() + i * 4, 4);
        REQUIRE(row == graph.graph().edge_row(kBuys, 0, block.edge_ids[i]));
      }
    }
  }
  CHECK(next == columns.size());
  CHECK(checked > 50);
  CHECK(EdgeRowBytes(graph.router(), sampled, plans) == bytes);
}

TEST_CASE("rows of edges need their positions", "[edge_rows]") {
  const RoutedGraph graph(testing::TypedGraph(60, 40, 10, 1), 2);
  const SampledGraph sampled = Sampled(graph, true);
  VICINITY_CHECK_CODE(FetchEdgeRows(graph.router(), sampled, {{kBuys, 0}}, nullptr),
                      absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("an unknown column is not found, with those there are", "[edge_rows]") {
  const RoutedGraph graph(testing::TypedGraph(60, 40, 10, 1), 1);
  const Schema& schema = graph.router().schema();
  VICINITY_CHECK_OK(FindEdgeColumn(schema, 0, "weight"));
  const auto unknown = FindEdgeColumn(schema, 0, "price");
  VICINITY_CHECK_CODE(unknown, absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(unknown.status().message()), Catch::Contains("weight"));
  VICINITY_CHECK_CODE(FindEdgeColumn(schema, 1, "weight"), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(FindEdgeColumn(schema, 99, "weight"), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity

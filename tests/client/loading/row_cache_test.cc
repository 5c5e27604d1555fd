#include "client/loading/row_cache.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr NodeTypeId kUser{0};
constexpr NodeTypeId kItem{1};

TEST_CASE("the likeliest remote rows of all types together are held", "[row_cache]") {
  RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4, {1, 2});
  graph.Rank("default");  // probability 1 / (1 + position) in every type
  for (const int64_t num_rows : {0, 1, 7, 50, 100'000}) {
    CacheOptions options;
    options.ranking = "default";
    options.seeds = {{0}, {1.0}};
    options.capacity = num_rows;
    options.types = {kUser, kItem};
    VICINITY_ASSERT_OK_AND_ASSIGN(const CacheRows rows, ChooseCached(graph.router(), options));
    // By hand: position after position, users before items.
    std::vector<std::vector<int64_t>> expected(3);
    const std::vector<int64_t> ids[2] = {graph.GlobalIds(kUser), graph.GlobalIds(kItem)};
    int64_t left = num_rows;
    for (int64_t position = 0; position < 100; ++position) {
      for (int32_t type = 0; type < 2; ++type) {
        if (position >= static_cast<int64_t>(ids[type].size()) || left == 0) continue;
        const GlobalNode node{ids[type][position]};
        if (graph.router().IsLocal(graph.router().book().OwnerOf({type}, node))) continue;
        expected[type].push_back(node.value);
        --left;
      }
    }
    for (int type = 0; type < 3; ++type) {
      const auto num_held = static_cast<int64_t>(expected[type].size());
      CHECK(rows.capacity[type] == num_held);
      REQUIRE(rows.ranked[type].size() >= expected[type].size());
      CHECK(std::equal(expected[type].begin(), expected[type].end(), rows.ranked[type].begin()));
    }
  }
}

TEST_CASE("rows of different cost are held as far as they fit together", "[row_cache]") {
  RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4, {1, 2});
  graph.Rank("default");
  CacheOptions options;
  options.ranking = "default";
  options.seeds = {{0}, {1.0}};
  options.types = {kUser, kItem};
  options.row_costs = {10, 3};
  for (options.capacity = 0; options.capacity < 200; ++options.capacity) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const CacheRows rows, ChooseCached(graph.router(), options));
    const int64_t cost = 10 * rows.capacity[0] + 3 * rows.capacity[1];
    CHECK(cost <= options.capacity);
    CHECK(cost + 10 > options.capacity);  // at most a user's row does not fit
  }
}

TEST_CASE("without a ranking, and beyond one, types get room as their rows need it",
          "[row_cache]") {
  const RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4, {1, 2});
  const auto num_remote = [&](NodeTypeId type) {
    return graph.router().book().num_nodes(type, {1}) + graph.router().book().num_nodes(type, {2});
  };
  CacheOptions options;
  options.types = {kUser, kItem};
  options.row_costs = {10, 3};
  const int64_t all = 10 * num_remote(kUser) + 3 * num_remote(kItem);
  for (options.capacity = 0; options.capacity < 2 * all; options.capacity += 7) {
    const CacheRows rows = DealCache(graph.router(), options);
    const int64_t cost = 10 * rows.capacity[0] + 3 * rows.capacity[1];
    CHECK(cost <= options.capacity);
    CHECK(cost + 26 > std::min(options.capacity, all));  // less than a row of each type is left
    const double share = std::min(1.0, static_cast<double>(options.capacity) / all);
    CHECK(rows.capacity[0] == static_cast<int64_t>(share * num_remote(kUser)));
    CHECK(rows.ranked[0].empty());
  }
}

TEST_CASE("an unknown ranking is not found", "[row_cache]") {
  RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4, {1, 2});
  graph.Rank("default");
  CacheOptions options;
  options.ranking = "other";
  options.seeds = {{0}, {1.0}};
  options.capacity = 5;
  options.types = {kUser};
  VICINITY_CHECK_CODE(ChooseCached(graph.router(), options).status(), absl::StatusCode::kNotFound);
}

TEST_CASE("a pool is filled through the router", "[row_cache]") {
  RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4, {1, 2});
  const std::vector<int64_t> nodes = graph.GlobalIds(kUser);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RowPool> pool,
                                FillPool(graph.router(), kUser, 0, 30, nodes));
  CHECK(pool->stats().capacity_rows == 30);
  VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch batch, pool->Admit({nodes[29], nodes[30]}));
  CHECK(batch.missing == std::vector<int32_t>{1});
  pool->Release(batch);
  graph.faults()->fail_after = 0;
  VICINITY_CHECK_CODE(FillPool(graph.router(), kUser, 0, 30, nodes).status(),
                      absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace vicinity

#include "client/vip_cache.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/client/routed_graph.h"
#include "tests/testing/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr NodeTypeId kUser{0};
constexpr NodeTypeId kItem{1};

TEST_CASE("the likeliest remote rows of all types together are held", "[vip_cache]") {
  RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4, {1, 2});
  graph.Rank("default");  // probability 1 / (1 + position) in every type
  for (const int64_t num_rows : {0, 1, 7, 50, 100'000}) {
    CacheOptions options;
    options.ranking = "default";
    options.home = {0};
    options.capacity = num_rows;
    options.types = {kUser, kItem};
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<std::vector<int64_t>> chosen,
                                  ChooseCached(graph.router(), options));
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
    CHECK(chosen == expected);
  }
}

TEST_CASE("rows of different cost are held as far as they fit together", "[vip_cache]") {
  RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4, {1, 2});
  graph.Rank("default");
  CacheOptions options;
  options.ranking = "default";
  options.home = {0};
  options.types = {kUser, kItem};
  options.row_costs = {10, 3};
  options.capacity = 1'000'000;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<std::vector<int64_t>> all,
                                ChooseCached(graph.router(), options));
  for (options.capacity = 0; options.capacity < 200; ++options.capacity) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<std::vector<int64_t>> chosen,
                                  ChooseCached(graph.router(), options));
    const auto [users, items] = std::pair(chosen[0].size(), chosen[1].size());
    const auto cost = static_cast<int64_t>(10 * users + 3 * items);
    CHECK(cost <= options.capacity);
    CHECK(cost + 10 > options.capacity);  // at most a user's row does not fit
    CHECK(chosen[0] == std::vector<int64_t>(all[0].begin(), all[0].begin() + users));
    CHECK(chosen[1] == std::vector<int64_t>(all[1].begin(), all[1].begin() + items));
  }
}

TEST_CASE("an unknown ranking is not found", "[vip_cache]") {
  RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4, {1, 2});
  graph.Rank("default");
  CacheOptions options;
  options.ranking = "other";
  options.home = {0};
  options.capacity = 5;
  options.types = {kUser};
  VICINITY_CHECK_CODE(ChooseCached(graph.router(), options).status(), absl::StatusCode::kNotFound);
  options.ranking = "default";
  options.home = {0, 1};  // not ranked for this home
  VICINITY_CHECK_CODE(ChooseCached(graph.router(), options).status(), absl::StatusCode::kNotFound);
}

TEST_CASE("a pool is filled through the router", "[vip_cache]") {
  RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4, {1, 2});
  const std::vector<int64_t> nodes = graph.GlobalIds(kUser);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RowPool> pool,
                                FillPool(graph.router(), kUser, 0, nodes));
  CHECK(pool->stats().capacity_rows == 100);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RowPool> some,
                                FillLookAheadPool(graph.router(), kUser, 0, 30, nodes));
  CHECK(some->stats().capacity_rows == 30);
  VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch batch, some->Admit({nodes[29], nodes[30]}));
  CHECK(batch.missing == std::vector<int32_t>{1});
  some->Release(batch);
  graph.faults()->fail_after = 0;
  VICINITY_CHECK_CODE(FillPool(graph.router(), kUser, 0, nodes).status(),
                      absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(FillLookAheadPool(graph.router(), kUser, 0, 30, nodes).status(),
                      absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace vicinity

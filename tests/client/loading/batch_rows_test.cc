#include "client/loading/batch_rows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cache/pool/row_pool.h"
#include "client/loading/row_cache.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr NodeTypeId kUser{0};
constexpr NodeTypeId kItem{1};

// A batch of the nodes at these positions.
SampledGraph Batch(const RoutedGraph& graph, const std::vector<int64_t>& users,
                   const std::vector<int64_t>& items) {
  SampledGraph batch;
  batch.nodes.resize(3);
  const std::vector<int64_t> user_ids = graph.GlobalIds(kUser);
  const std::vector<int64_t> item_ids = graph.GlobalIds(kItem);
  for (const int64_t position : users) batch.nodes[0].ids.push_back(user_ids[position]);
  for (const int64_t position : items) batch.nodes[1].ids.push_back(item_ids[position]);
  return batch;
}

// With a cache of these users, or one that holds nothing beside batches in flight.
std::vector<ColumnPlan> Columns(const RoutedGraph& graph,
                                const std::vector<int64_t>& cached_users) {
  std::vector<ColumnPlan> columns(3);
  for (int c = 0; c < 3; ++c) {
    ColumnPlan& plan = columns[c];
    plan.type = c == 1 ? kItem : kUser;
    plan.column = c == 2 ? 1 : 0;
    VICINITY_ASSERT_OK_AND_ASSIGN(
        plan.pool, FillPool(graph.router(), plan.type, plan.column,
                            c == 1 ? 0 : static_cast<int64_t>(cached_users.size()), cached_users));
  }
  return columns;
}

absl::Status Bring(const RowLoader& loader, BatchRows* rows) {
  RowCounts counts;
  absl::Status status = loader.Announce(*rows);
  if (status.ok()) status = loader.Admit(rows, &counts);
  loader.Count(counts);
  if (status.ok()) status = loader.Fetch(rows, nullptr);
  if (status.ok()) status = loader.Assemble(rows, std::chrono::seconds(10));
  return status;
}

TEST_CASE("a batch's rows are those of its nodes, with and without a cache", "[batch_rows]") {
  const bool has_cache = GENERATE(false, true);
  const bool all_remote = GENERATE(false, true);
  const RoutedGraph graph(
      testing::TypedGraph(100, 80, 10, 3), 4,
      all_remote ? std::vector<int32_t>{0, 1, 2, 3} : std::vector<int32_t>{1, 3});
  std::vector<int64_t> cached;
  for (const int64_t node : graph.GlobalIds(kUser)) {
    if (!graph.router().IsLocal(graph.router().book().OwnerOf(kUser, {node})) && node % 3 == 0) {
      cached.push_back(node);
    }
  }
  const RowLoader loader(graph.router(),
                         Columns(graph, has_cache ? cached : std::vector<int64_t>()));
  const std::vector<int64_t> users = {5, 99, 0, 42, 17, 18, 19};
  const std::vector<int64_t> items = {79, 3, 8};
  const SampledGraph batch = Batch(graph, users, items);
  for (int round = 0; round < 2; ++round) {
    BatchRows rows = loader.Split(batch);
    CHECK(loader.Bytes(rows) > 0);
    VICINITY_REQUIRE_OK(Bring(loader, &rows));
    for (int c = 0; c < 3; ++c) {
      const NodeTypeId type = c == 1 ? kItem : kUser;
      const std::vector<int64_t>& positions = c == 1 ? items : users;
      const BatchColumn& result = rows.columns[c].result;
      REQUIRE(result.num_rows == static_cast<int64_t>(positions.size()));
      std::string expected;
      for (const int64_t position : positions) {
        expected += graph.graph().row(type, c == 2 ? 1 : 0, position);
      }
      CHECK(std::string(result.bytes.begin(), result.bytes.end()) == expected);
    }
  }
  const RowCounts counts = loader.counts();
  CHECK(counts.local + counts.cached + counts.remote == 2 * (7 + 3 + 7));
  CHECK((counts.cached > 0) == has_cache);
  // Two of the three columns are of users: their nodes are counted once.
  CHECK(counts.fetched_nodes < counts.remote);
  CHECK(2 * counts.fetched_nodes >= counts.remote);
}

TEST_CASE("a list may have a node several times: its row comes once, and is there as often",
          "[batch_rows]") {
  const RoutedGraph graph(testing::TypedGraph(100, 80, 10, 3), 4, {1, 3});
  std::vector<ColumnPlan> columns(3);  // users' features for two lists, of one pool; labels
  std::shared_ptr<RowPool> pool;
  VICINITY_ASSERT_OK_AND_ASSIGN(pool, FillPool(graph.router(), kUser, 0, 50, {}));
  for (int c = 0; c < 3; ++c) {
    columns[c].type = kUser;
    columns[c].column = c == 2 ? 1 : 0;
    columns[c].list = c == 0 ? 1 : 0;
    if (c < 2) columns[c].pool = pool;
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(columns[2].pool, FillPool(graph.router(), kUser, 1, 0, {}));
  const RowLoader loader(graph.router(), std::move(columns));
  const std::vector<std::vector<int64_t>> users = {{7, 3, 7, 7, 90, 3}, {3, 8, 7}};
  const std::vector<int64_t> places = {0, 1, 0, 0, 2, 1};
  const std::vector<int64_t> ids = graph.GlobalIds(kUser);
  const std::vector<int64_t> once = {ids[7], ids[3], ids[90]};
  const std::vector<int64_t> others = {ids[3], ids[8], ids[7]};
  const auto num_far = [&](const std::set<int64_t>& nodes) {
    return std::count_if(nodes.begin(), nodes.end(), [&](int64_t node) {
      return !graph.router().IsLocal(graph.router().book().OwnerOf(kUser, {node}));
    });
  };
  for (int round = 0; round < 2; ++round) {
    BatchRows rows = loader.Split({NodeList{once, places}, NodeList{others, {}}});
    CHECK(loader.Bytes(rows) >= 9 * 20 + 6 * 4);
    VICINITY_REQUIRE_OK(loader.Announce(rows));
    RowCounts counts;
    VICINITY_REQUIRE_OK(loader.Admit(&rows, &counts));
    VICINITY_REQUIRE_OK(loader.Fetch(&rows, nullptr));
    VICINITY_REQUIRE_OK(loader.Assemble(&rows, std::chrono::seconds(10)));
    for (int c = 0; c < 3; ++c) {
      std::string expected;
      for (const int64_t user : users[c == 0 ? 1 : 0]) {
        expected += graph.graph().row(kUser, c == 2 ? 1 : 0, user);
      }
      const BatchColumn& result = rows.columns[c].result;
      CHECK(result.num_rows == static_cast<int64_t>(users[c == 0 ? 1 : 0].size()));
      CHECK(std::string(result.bytes.begin(), result.bytes.end()) == expected);
    }
    const int64_t labels = num_far({ids[7], ids[3], ids[90]});
    const int64_t features = num_far({ids[7], ids[3], ids[90], ids[8]});
    CHECK(counts.local + counts.cached + counts.remote == 9);
    CHECK(counts.remote == (round == 0 ? features : 0) + labels);  // labels are not held
  }
}

TEST_CASE("a row that several batches in flight need comes once, with and without a cache",
          "[batch_rows]") {
  const RoutedGraph graph(testing::TypedGraph(100, 80, 10, 3), 2, {0, 1});
  const std::vector<int64_t> held(GENERATE(0, 1), graph.GlobalIds(kUser)[50]);
  const RowLoader loader(graph.router(), Columns(graph, held));
  std::vector<BatchRows> in_flight;
  RowCounts counts;
  for (const std::vector<int64_t>& users : {std::vector<int64_t>{1, 2, 3}, {2, 3, 4}, {1, 4}}) {
    in_flight.push_back(loader.Split(Batch(graph, users, {7})));
    VICINITY_REQUIRE_OK(loader.Admit(&in_flight.back(), &counts));
  }
  // Users 1 to 4 for two columns, item 7 for one.
  CHECK(counts.remote == 2 * 4 + 1);
  CHECK(counts.cached == 2 * (3 + 3 + 2) + 3 - counts.remote);
  for (BatchRows& rows : in_flight) VICINITY_REQUIRE_OK(loader.Fetch(&rows, nullptr));
  for (BatchRows& rows : in_flight) {
    VICINITY_REQUIRE_OK(loader.Assemble(&rows, std::chrono::seconds(10)));
  }
  std::string second;
  for (const int64_t user : {2, 3, 4}) second += graph.graph().row(kUser, 0, user);
  const auto& bytes = in_flight[1].columns[0].result.bytes;
  CHECK(std::string(bytes.begin(), bytes.end()) == second);
}

TEST_CASE("a batch that is dropped half way frees what others wait for", "[batch_rows]") {
  RoutedGraph graph(testing::TypedGraph(100, 80, 10, 3), 2, {0, 1});
  const RowLoader loader(graph.router(), Columns(graph, {}));
  const SampledGraph batch = Batch(graph, {1, 2, 3}, {1});
  BatchRows dropped = loader.Split(batch);
  RowCounts counts;
  VICINITY_REQUIRE_OK(loader.Admit(&dropped, &counts));
  BatchRows waiting = loader.Split(batch);
  VICINITY_REQUIRE_OK(loader.Admit(&waiting, &counts));  // awaits the rows of the first
  graph.faults()->fail_after = graph.faults()->calls.load();
  VICINITY_CHECK_CODE(loader.Fetch(&dropped, nullptr), absl::StatusCode::kUnavailable);
  dropped = BatchRows();
  graph.faults()->fail_after = -1;
  VICINITY_CHECK_CODE(loader.Assemble(&waiting, std::chrono::seconds(10)),
                      absl::StatusCode::kUnavailable);
  waiting = BatchRows();
  BatchRows again = loader.Split(batch);
  VICINITY_CHECK_OK(Bring(loader, &again));
}

}  // namespace
}  // namespace vicinity

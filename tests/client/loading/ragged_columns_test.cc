#include "client/loading/ragged_columns.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/shards/ragged_rows.h"
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

// clicks of users; title, then words, of items.
const std::vector<RaggedColumn> kColumns = {{kUser, 0}, {kItem, 1}, {kItem, 0}};

void CheckRows(const RoutedGraph& graph, const BatchRagged& found, const RaggedColumn& column,
               const std::vector<int64_t>& positions) {
  std::vector<std::string_view> rows;
  for (const int64_t position : positions) {
    rows.push_back(graph.graph().ragged_row(column.type, column.column, position));
  }
  const RaggedSpec& spec =
      graph.router().schema().node_types[column.type.value].ragged[column.column];
  VICINITY_ASSERT_OK_AND_ASSIGN(const RaggedRows expected, JoinRaggedRows(spec, rows));
  CHECK(found.node_type == column.type.value);
  CHECK(found.rows.spec.name == spec.name);
  CHECK(found.rows.row_ends == expected.row_ends);
  CHECK(found.rows.indices == expected.indices);
  CHECK(found.rows.values == expected.values);
}

TEST_CASE("batches have the ragged rows of their nodes, near, far or kept", "[ragged_columns]") {
  const int64_t cache_bytes = GENERATE(int64_t{0}, int64_t{1000}, int64_t{1} << 20);
  const RoutedGraph graph(testing::TypedGraph(40, 60, 9, 3), 4, {0, 2});
  const RaggedColumns columns(graph.router(), kColumns, cache_bytes);
  CHECK(columns.num_columns() == 3);
  const std::vector<std::vector<int64_t>> users = {{0, 7, 39}, {39, 8, 0}, {}};
  const std::vector<std::vector<int64_t>> items = {{5, 59}, {1, 2, 3, 4, 5}, {59}};
  for (size_t step = 0; step < users.size(); ++step) {
    CAPTURE(step);
    RowCounts counts;
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const std::vector<BatchRagged> found,
        columns.Fetch(Batch(graph, users[step], items[step]), nullptr, &counts));
    REQUIRE(found.size() == kColumns.size());
    CheckRows(graph, found[0], kColumns[0], users[step]);
    CheckRows(graph, found[1], kColumns[1], items[step]);
    CheckRows(graph, found[2], kColumns[2], items[step]);
    CHECK(counts.local + counts.cached + counts.remote ==
          static_cast<int64_t>(users[step].size() + 2 * items[step].size()));
  }
}

TEST_CASE("far rows that are kept are not fetched again", "[ragged_columns]") {
  const RoutedGraph graph(testing::TypedGraph(40, 60, 9, 3), 2, {0, 1});
  const RaggedColumns columns(graph.router(), kColumns, 1 << 20);
  const SampledGraph batch = Batch(graph, {0, 7, 39}, {5, 59});
  RowCounts first;
  VICINITY_REQUIRE_OK(columns.Fetch(batch, nullptr, &first).status());
  CHECK(first.remote == 7);
  CHECK(first.cached == 0);
  CHECK(first.remote_bytes > 0);
  RowCounts again;
  VICINITY_REQUIRE_OK(columns.Fetch(batch, nullptr, &again).status());
  CHECK(again.remote == 0);
  CHECK(again.cached == 7);
  CHECK(again.remote_bytes == 0);
}

TEST_CASE("what a batch may take is guessed by the rows so far", "[ragged_columns]") {
  const RoutedGraph graph(testing::TypedGraph(40, 60, 9, 3), 2);
  const RaggedColumns columns(graph.router(), {{kItem, 1}}, 0);
  const SampledGraph batch = Batch(graph, {}, {5, 59, 7, 8});
  CHECK(columns.GuessBytes(batch) == 0);
  RowCounts counts;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<BatchRagged> found,
                                columns.Fetch(batch, nullptr, &counts));
  CHECK(columns.GuessBytes(batch) == 4 * (static_cast<int64_t>(found[0].rows.values.size()) / 4));
}

}  // namespace
}  // namespace vicinity

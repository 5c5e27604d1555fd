#include "client/shards/ragged_rows.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/call_context.h"
#include "partition/schema/schema.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr NodeTypeId kItem{1};
constexpr int32_t kTitle = 1;

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST_CASE("ragged rows and names come from all shards in the order asked for", "[ragged_rows]") {
  const RoutedGraph graph(testing::TypedGraph(20, 60, 9, 3), 4, {1, 3});
  const int32_t column = GENERATE(-1, 0, 1);
  const std::vector<int64_t> ids = graph.GlobalIds(kItem);  // by position
  const std::vector<int64_t> positions = {59, 0, 7, 7, 31, 59};
  std::vector<int64_t> asked;
  for (const int64_t position : positions) asked.push_back(ids[position]);
  std::vector<std::string> rows(asked.size(), "?");
  VICINITY_REQUIRE_OK(
      FetchRaggedBytes(graph.router(), kItem, column, asked, StartOperation(), rows.data()));
  for (size_t i = 0; i < asked.size(); ++i) {
    CAPTURE(i);
    CHECK(rows[i] == graph.graph().ragged_row(kItem, column, positions[i]));
  }
}

TEST_CASE("rows of a sparse matrix are put together as indices and values", "[ragged_rows]") {
  const RaggedSpec spec{"words", DType::kFloat32, 9};
  const std::vector<std::string> rows = {Bytes<int32_t>({1, 8}) + Bytes<float>({0.5F, -2}), "",
                                         Bytes<int32_t>({0}) + Bytes<float>({7})};
  const std::vector<std::string_view> views(rows.begin(), rows.end());
  VICINITY_ASSERT_OK_AND_ASSIGN(const RaggedRows joined, JoinRaggedRows(spec, views));
  CHECK(joined.row_ends == std::vector<int64_t>{2, 2, 3});
  CHECK(joined.indices == std::vector<int32_t>{1, 8, 0});
  CHECK(std::string(joined.values.begin(), joined.values.end()) == Bytes<float>({0.5F, -2, 7}));
  CHECK(joined.num_rows() == 3);
  CHECK(joined.num_values() == 3);
  CHECK(joined.spec.name == "words");
}

TEST_CASE("lists are put together as values, and there may be none at all", "[ragged_rows]") {
  const RaggedSpec spec{"clicks", DType::kInt64, 0};
  const std::vector<std::string> rows = {"", Bytes<int64_t>({-1, 5}), Bytes<int64_t>({7})};
  const std::vector<std::string_view> views(rows.begin(), rows.end());
  VICINITY_ASSERT_OK_AND_ASSIGN(const RaggedRows joined, JoinRaggedRows(spec, views));
  CHECK(joined.row_ends == std::vector<int64_t>{0, 2, 3});
  CHECK(joined.indices.empty());
  CHECK(std::string(joined.values.begin(), joined.values.end()) == Bytes<int64_t>({-1, 5, 7}));
  VICINITY_ASSERT_OK_AND_ASSIGN(const RaggedRows none, JoinRaggedRows(spec, {}));
  CHECK(none.num_rows() == 0);
  CHECK(none.num_values() == 0);
}

TEST_CASE("bytes that are no row are damage, with its place", "[ragged_rows]") {
  const RaggedSpec spec{"words", DType::kFloat32, 9};
  const std::vector<std::string_view> rows = {"", "1234567"};
  const absl::Status status = JoinRaggedRows(spec, rows).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK(status.message() == "column words: row 1 has 7 bytes, no multiple of 8");
}

TEST_CASE("a ragged column that is not there is refused with those that are", "[ragged_rows]") {
  const RoutedGraph graph(testing::TypedGraph(20, 60, 9, 3), 1);
  const Schema& schema = graph.router().schema();
  VICINITY_ASSERT_OK_AND_ASSIGN(const int32_t title,
                                FindRaggedColumn(schema.node_types[1], "title"));
  CHECK(title == kTitle);
  const absl::Status status = FindRaggedColumn(schema.node_types[1], "price").status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kNotFound);
  CHECK(status.message() == "node type item has no ragged column price; it has: words title");
}

}  // namespace
}  // namespace vicinity

#include "client/writes/checked_changes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/types/write_values.h"
#include "partition/dataset/book.h"
#include "proto/common/checksum.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

template <typename T>
std::vector<T> Of(int64_t count, T value) {
  return std::vector<T>(count, value);
}

// A graph of users, items and tags (small_graphs.h).
class CheckedChangesTest {
 public:
  CheckedChangesTest()
      : graph_(testing::TypedGraph(40, 30, 10, 1)),
        book_(testing::Shuffled(graph_, 3, 1).book.Growing()) {}

 protected:
  const NodeTypeSpec& type(const char* name) const {
    return graph_.schema.node_types[graph_.schema.FindNodeType(name)];
  }
  static GivenColumn Zeros(const ColumnSpec& spec, int64_t rows) {
    return {spec.name, spec.dtype, Of<char>(rows * spec.row_bytes(), 0)};
  }
  // `rows` rows, with all columns; ragged rows have no values.
  NewNodes Nodes(const char* name, int64_t rows) const {
    NewNodes nodes;
    nodes.node_type = name;
    for (int64_t i = 0; i < rows; ++i) {
      if (type(name).id_kind == IdKind::kString) {
        nodes.names.push_back("new " + std::to_string(i));
      } else {
        nodes.ids.push_back(7000 + i);
      }
    }
    for (const ColumnSpec& spec : type(name).columns) nodes.columns.push_back(Zeros(spec, rows));
    for (const RaggedSpec& spec : type(name).ragged) {
      nodes.ragged.push_back({spec.name, spec.dtype, Of<int64_t>(rows, 0)});
    }
    return nodes;
  }
  NewEdges Buys(int64_t rows) const {
    NewEdges edges;
    edges.edge_type = "user:buys:item";
    edges.sources = Of<int64_t>(rows, 1);
    edges.targets = Of<int64_t>(rows, 2);
    const EdgeTypeSpec& type = graph_.schema.edge_types[graph_.schema.FindEdgeType("buys")];
    for (const ColumnSpec& spec : type.columns) edges.columns.push_back(Zeros(spec, rows));
    return edges;
  }
  absl::StatusOr<CheckedChanges> Check(const GraphChanges& changes) const {
    return CheckedChanges::Check(graph_.schema, book_, changes);
  }
  absl::StatusOr<CheckedChanges> Check(const NewNodes& nodes) {
    changes_.new_nodes = {nodes};
    return Check(changes_);
  }
  absl::StatusOr<CheckedChanges> Check(const NewEdges& edges) {
    changes_.new_edges = {edges};
    return Check(changes_);
  }

  const testing::MemoryGraph graph_;
  const Book book_;
  GraphChanges changes_;
};

constexpr absl::StatusCode kWrong = absl::StatusCode::kInvalidArgument;

TEST_CASE_METHOD(CheckedChangesTest, "what fits is taken, whatever the order of its columns",
                 "[writes]") {
  NewNodes users = Nodes("user", 3);
  std::reverse(users.columns.begin(), users.columns.end());
  changes_.new_nodes = {users, Nodes("item", 2), Nodes("tag", 1)};
  changes_.new_edges = {Buys(5)};
  VICINITY_ASSERT_OK_AND_ASSIGN(const CheckedChanges checked, Check(changes_));
  REQUIRE(checked.parts().size() == 4);
  const CheckedPart& part = checked.parts()[0];
  CHECK(part.num_rows == 3);
  for (size_t c = 0; c < part.columns.size(); ++c) {
    CHECK(part.columns[c].column == static_cast<int32_t>(c));
  }
  CHECK(checked.KeyOf(part, 1) == 7001);
  CHECK(checked.OwnerOf(part, 1) == book_.DirectoryShard(7001));
  const CheckedPart& items = checked.parts()[1];
  CHECK(checked.KeyOf(items, 1) == Checksum("new 1", type("item").key_salt));
  const CheckedPart& edges = checked.parts()[3];
  const NodeTypeId item{graph_.schema.FindNodeType("item")};
  CHECK(checked.OwnerOf(edges, 0) == book_.OwnerOf(item, {2}));
  for (const CheckedPart& each : checked.parts()) VICINITY_CHECK_OK(checked.RowFault(each, 0));
}

TEST_CASE_METHOD(CheckedChangesTest, "unknown types and columns are refused by name", "[writes]") {
  NewNodes nodes = Nodes("user", 1);
  nodes.node_type = "buyer";
  const absl::Status status = Check(nodes).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(status.message()), Catch::Contains("user, item, tag"));
  nodes = Nodes("user", 1);
  nodes.columns[0].name = "age";
  VICINITY_CHECK_CODE(Check(nodes).status(), absl::StatusCode::kNotFound);
  NewEdges edges = Buys(1);
  edges.edge_type = "sells";
  changes_ = {};
  VICINITY_CHECK_CODE(Check(edges).status(), absl::StatusCode::kNotFound);
}

TEST_CASE_METHOD(CheckedChangesTest, "columns of another type, shape or number are refused",
                 "[writes]") {
  NewNodes nodes = Nodes("user", 2);
  SECTION("another type") { nodes.columns[0].dtype = DType::kFloat64; }
  SECTION("a row too few") { nodes.columns[0].bytes.resize(type("user").columns[0].row_bytes()); }
  SECTION("missing") { nodes.columns.pop_back(); }
  SECTION("twice") { nodes.columns.push_back(nodes.columns[0]); }
  SECTION("ragged, missing") { nodes.ragged.clear(); }
  SECTION("ragged, a row too few") { nodes.ragged[0].row_ends.pop_back(); }
  SECTION("ragged, values too few") { nodes.ragged[0].row_ends = {1, 2}; }
  SECTION("ragged, ends that fall") { nodes.ragged[0].row_ends = {1, 0}; }
  SECTION("names where ids are integers") { nodes.names = {"a", "b"}; }
  VICINITY_CHECK_CODE(Check(nodes).status(), kWrong);
}

TEST_CASE_METHOD(CheckedChangesTest, "lists of edges have one length", "[writes]") {
  NewEdges edges = Buys(2);
  edges.sources.pop_back();
  VICINITY_CHECK_CODE(Check(edges).status(), kWrong);
  GraphChanges changes;
  changes.removed_edges = {{"buys", {1, 2}, {3}}};
  VICINITY_CHECK_CODE(Check(changes).status(), kWrong);
  changes = {};
  changes.edge_values = {{"buys", {1}, {3}, {}}};  // of no column
  VICINITY_CHECK_CODE(Check(changes).status(), kWrong);
}

TEST_CASE_METHOD(CheckedChangesTest, "rows that no graph can take are found one by one",
                 "[writes]") {
  NewEdges edges = Buys(4);
  const std::vector<float> weights = {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN(), 2.0f};
  edges.columns = {GivenColumn::Of("weight", weights)};
  edges.targets[3] = -4;
  VICINITY_ASSERT_OK_AND_ASSIGN(const CheckedChanges checked, Check(edges));
  const CheckedPart& part = checked.parts()[0];
  VICINITY_CHECK_OK(checked.RowFault(part, 0));
  for (int64_t row = 1; row < 4; ++row) VICINITY_CHECK_CODE(checked.RowFault(part, row), kWrong);
}

TEST_CASE_METHOD(CheckedChangesTest, "indices of sparse rows rise and are in range", "[writes]") {
  NewNodes items = Nodes("item", 3);
  const int words = type("item").FindRagged("words");
  REQUIRE(words >= 0);
  for (GivenRagged& column : items.ragged) {
    if (column.name != "words") continue;
    column.row_ends = {2, 4, 5};
    column.indices = {3, 8, 8, 3, 40};
    column.values = internal::BytesOf(Of<float>(5, 1.0f));
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const CheckedChanges checked, Check(items));
  const CheckedPart& part = checked.parts()[0];
  VICINITY_CHECK_OK(checked.RowFault(part, 0));
  VICINITY_CHECK_CODE(checked.RowFault(part, 1), kWrong);
  VICINITY_CHECK_CODE(checked.RowFault(part, 2), kWrong);
  CHECK(RaggedRowOf(part.ragged[words], 2).size() == 8);
  CHECK(checked.RowBytes(part, 0) == checked.RowBytes(part, 2) + 8);
}

TEST_CASE_METHOD(CheckedChangesTest, "dense ids are not below 0", "[writes]") {
  NewNodes tags = Nodes("tag", 1);
  tags.ids = {-1};
  VICINITY_ASSERT_OK_AND_ASSIGN(const CheckedChanges checked, Check(tags));
  VICINITY_CHECK_CODE(checked.RowFault(checked.parts()[0], 0), kWrong);
}

}  // namespace
}  // namespace vicinity

#include "client/cli/writes/change_rows.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/writes/change_file.h"
#include "client/cli/writes/text_row.h"
#include "client/graph.h"
#include "client/writer.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

using Fields = std::vector<absl::string_view>;
constexpr absl::StatusCode kWrong = absl::StatusCode::kInvalidArgument;

// A file's fields by name, and of an array the shapes of their rows.
class NamedFields : public ChangeFile {
 public:
  explicit NamedFields(std::vector<std::string> names,
                       std::vector<std::vector<int64_t>> shapes = {})
      : ChangeFile("line"), shapes_(std::move(shapes)) {
    names_ = std::move(names);
  }
  int64_t num_rows() const override { return kUnknown; }
  std::optional<std::vector<int64_t>> RowShape(size_t field) const override {
    if (shapes_.empty()) return std::nullopt;
    return shapes_[field];
  }
  absl::StatusOr<Found> Next() override { return Found::kEnd; }
  const FileRow& row() const override { return row_; }
  int64_t number() const override { return 0; }
  std::string Place(int64_t) const override { return ""; }
  void Keep() override {}
  const FileRow& Kept(int64_t) override { return row_; }
  void Forget() override {}

 private:
  const std::vector<std::vector<int64_t>> shapes_;
  TextRow row_{&names_};
};

// Of a mapped graph: nothing is written here.
class ChangeRowsTest {
 public:
  ChangeRowsTest() : on_disk_(testing::TypedGraph(20, 10, 5, 1), 2) {
    GraphOptions options;
    options.directory = on_disk_.directory();
    auto graph = Graph::Open(options);
    REQUIRE(graph.ok());
    graph_ = *std::move(graph);
  }

 protected:
  WriteSubject Nodes(const char* type, WriteAction action) const {
    WriteSubject subject;
    subject.type = graph_->schema().FindNodeType(type);
    subject.action = action;
    return subject;
  }
  WriteSubject Edges(const char* type, WriteAction action) const {
    WriteSubject subject;
    subject.of_edges = true;
    subject.type = graph_->schema().FindEdgeType(type);
    subject.action = action;
    return subject;
  }
  void Make(const WriteSubject& subject, const std::vector<std::string>& names) {
    names_ = names;
    auto rows = ChangeRows::Create(*graph_, subject, NamedFields(names));
    VICINITY_REQUIRE_OK(rows);
    rows_ = *std::move(rows);
  }
  absl::Status Add(const Fields& fields) {
    TextRow row(&names_);
    row.set_fields(fields);
    return rows_->Add(row);
  }
  absl::Status Refusal(const WriteSubject& subject, const std::vector<std::string>& names,
                       const std::vector<std::vector<int64_t>>& shapes = {}) const {
    return ChangeRows::Create(*graph_, subject, NamedFields(names, shapes)).status();
  }
  GraphChanges Take() {
    auto changes = rows_->Take();
    VICINITY_REQUIRE_OK(changes);
    return *std::move(changes);
  }
  const testing::MemoryNodes& nodes(int type) const { return on_disk_.graph().nodes[type]; }
  std::string UserId(int64_t position) const {
    return absl::StrCat(static_cast<int64_t>(nodes(0).keys[position]));
  }

  const testing::RoutedGraph on_disk_;
  std::unique_ptr<Graph> graph_;
  std::vector<std::string> names_;
  std::unique_ptr<ChangeRows> rows_;
};

TEST_CASE_METHOD(ChangeRowsTest, "new nodes have their ids and columns by the names of the fields",
                 "[cli]") {
  Make(Nodes("user", WriteAction::kAdd), {"split", "label", "id", "clicks"});
  VICINITY_CHECK_OK(Add({"1", "3", "77", "5 6"}));
  VICINITY_CHECK_CODE(Add({"1", "3", "x", ""}), kWrong);
  VICINITY_CHECK_CODE(Add({"1", "many", "78", ""}), kWrong);
  VICINITY_CHECK_OK(Add({"2", "", "-79", ""}));
  CHECK(rows_->num_rows() == 2);
  const GraphChanges changes = Take();
  REQUIRE(changes.new_nodes.size() == 1);
  const NewNodes& users = changes.new_nodes[0];
  CHECK(users.node_type == "user");
  CHECK(users.ids == std::vector<int64_t>{77, -79});
  REQUIRE(users.columns.size() == 2);
  CHECK(users.columns[0].bytes == std::vector<char>{1, 2});
  CHECK(users.columns[1].bytes == internal::BytesOf(std::vector<int32_t>{3, -1}));
  REQUIRE(users.ragged.size() == 1);
  CHECK(users.ragged[0].row_ends == std::vector<int64_t>{2, 2});
  CHECK(users.ragged[0].values == internal::BytesOf(std::vector<int64_t>{5, 6}));
  CHECK(rows_->num_rows() == 0);
  CHECK(Take().new_nodes[0].ids.empty());
}

TEST_CASE_METHOD(ChangeRowsTest, "nodes that there are become global ids, others have a reason",
                 "[cli]") {
  Make(Nodes("item", WriteAction::kRemove), {"id"});
  VICINITY_CHECK_OK(Add({nodes(1).names[3]}));
  VICINITY_CHECK_OK(Add({"nobody"}));
  const GraphChanges changes = Take();
  CHECK(changes.removed_nodes[0].nodes ==
        std::vector<int64_t>{on_disk_.GlobalIds(NodeTypeId{1})[3], -1});
  CHECK(rows_->FaultOf(0) == nullptr);
  REQUIRE(rows_->FaultOf(1) != nullptr);
  CHECK_THAT(*rows_->FaultOf(1), Catch::Contains("\"nobody\""));
}

TEST_CASE_METHOD(ChangeRowsTest, "edges are found by their ends, or by their ids", "[cli]") {
  const testing::MemoryEdges& buys = on_disk_.graph().edges[0];
  const std::string source = UserId(buys.sources[0]);
  const std::string& target = nodes(1).names[buys.targets[0]];
  Make(Edges("buys", WriteAction::kUpdate), {"source", "target", "weight"});
  VICINITY_CHECK_OK(Add({source, target, "2"}));
  VICINITY_CHECK_OK(Add({"12345", target, "2"}));
  GraphChanges changes = Take();
  REQUIRE(changes.edge_values.size() == 1);
  const auto joined = graph_->EdgeIds(0, {on_disk_.GlobalIds(NodeTypeId{0})[buys.sources[0]]},
                                      {on_disk_.GlobalIds(NodeTypeId{1})[buys.targets[0]]});
  REQUIRE(joined.ok());
  CHECK(changes.edge_values[0].edge_ids == std::vector<int64_t>{joined->front(), -1});
  CHECK(changes.edge_values[0].targets[1] == -1);
  CHECK(rows_->FaultOf(1) != nullptr);

  Make(Edges("buys", WriteAction::kRemove), {"edge_id", "target"});
  VICINITY_CHECK_OK(Add({"4", target}));
  changes = Take();
  CHECK(changes.removed_edges[0].edge_ids == std::vector<int64_t>{4});

  Make(Edges("buys", WriteAction::kAdd), {"source", "target", "weight"});
  VICINITY_CHECK_OK(Add({source, target, "2"}));
  VICINITY_CHECK_CODE(Add({"nobody", target, "2"}), kWrong);
  VICINITY_CHECK_OK(Add({source, target, "3"}));
  changes = Take();
  CHECK(changes.new_edges[0].sources.size() == 2);
  CHECK(changes.new_edges[0].targets.size() == 2);
}

TEST_CASE_METHOD(ChangeRowsTest, "fields that are no columns, or are missing, are told", "[cli]") {
  VICINITY_CHECK_CODE(Refusal(Nodes("user", WriteAction::kAdd), {"id", "age"}),
                      absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(Refusal(Nodes("user", WriteAction::kAdd), {"label"}), kWrong);
  VICINITY_CHECK_CODE(Refusal(Edges("buys", WriteAction::kAdd), {"target"}), kWrong);
  WriteSubject renamed = Nodes("user", WriteAction::kRemove);
  renamed.id_field = "user";
  VICINITY_CHECK_OK(Refusal(renamed, {"user", "label"}));
}

TEST_CASE_METHOD(ChangeRowsTest, "rows of arrays are of the shape of their columns, or refused",
                 "[cli]") {
  const WriteSubject users = Nodes("user", WriteAction::kUpdate);
  VICINITY_CHECK_OK(Refusal(users, {"id", "features", "label", "clicks"}, {{}, {5}, {1}, {7}}));
  VICINITY_CHECK_OK(Refusal(users, {"id", "clicks"}, {{1}, {}}));
  VICINITY_CHECK_CODE(Refusal(users, {"id", "features"}, {{}, {4}}), kWrong);
  VICINITY_CHECK_CODE(Refusal(users, {"id", "features"}, {{}, {}}), kWrong);
  VICINITY_CHECK_CODE(Refusal(users, {"id", "label"}, {{2}, {}}), kWrong);
  VICINITY_CHECK_CODE(Refusal(users, {"id", "clicks"}, {{}, {2, 3}}), kWrong);
  // What is not read may be anything.
  VICINITY_CHECK_OK(Refusal(Nodes("user", WriteAction::kRemove), {"id", "features"}, {{}, {4}}));
  // Ids that are texts, and sparse rows, no array has.
  const absl::Status texts = Refusal(Nodes("item", WriteAction::kRemove), {"id"}, {{}});
  VICINITY_CHECK_CODE(texts, kWrong);
  CHECK_THAT(std::string(texts.message()), Catch::Contains("JSON lines"));
  VICINITY_CHECK_CODE(Refusal(Edges("buys", WriteAction::kRemove), {"source", "target"}, {{}, {}}),
                      kWrong);
}

}  // namespace
}  // namespace vicinity::cli

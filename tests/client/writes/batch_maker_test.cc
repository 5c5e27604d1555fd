#include "client/writes/batch_maker.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/types/write_values.h"
#include "client/writes/checked_changes.h"
#include "partition/dataset/book.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// Changes of users and of what they buy, each row with values of its own.
class BatchMakerTest {
 public:
  BatchMakerTest()
      : graph_(testing::TypedGraph(40, 30, 10, 1)),
        book_(testing::Shuffled(graph_, 3, 1).book.Growing()) {
    NewNodes tags{"tag", {100, 101, 102}};
    NewNodes items{"item", {}, {"x", "yy", "zzz"}};
    for (const ColumnSpec& spec : Type("item").columns) {
      items.columns.push_back({spec.name, spec.dtype, std::vector<char>(3 * spec.row_bytes())});
    }
    for (const RaggedSpec& spec : Type("item").ragged) {
      items.ragged.push_back({spec.name, spec.dtype, {0, 0, 0}});
      if (spec.name != "title") continue;
      items.ragged.back().row_ends = {2, 2, 5};
      items.ragged.back().values = {'a', 'b', 'c', 'd', 'e'};
    }
    NewEdges buys{"buys", {1, 2, 3, 4}, {5, 6, 7, 8}};
    buys.columns = {GivenColumn::Of("weight", std::vector<float>{1, 2, 3, 4})};
    NodeValues labels{"user", {10, 11}};
    labels.columns = {{"label",
                       Type("user").columns[Type("user").FindColumn("label")].dtype,
                       {7, 0, 0, 0, 8, 0, 0, 0}},
                      GivenColumn::Of("split", std::vector<uint8_t>{1, 2})};
    changes_.new_nodes = {tags, items};
    changes_.new_edges = {buys};
    changes_.node_values = {labels};
    changes_.edge_values = {
        {"buys", {3, 4}, {30, 40}, {GivenColumn::Of("weight", std::vector<float>{5, 6})}}};
    changes_.removed_edges = {{"knows", {1, 2}, {10, 20}}};
    changes_.removed_nodes = {{"user", {20, 21, 22}}};
    auto checked = CheckedChanges::Check(graph_.schema, book_, changes_);
    VICINITY_REQUIRE_OK(checked);
    checked_ = std::make_unique<CheckedChanges>(*checked);
    keys_.resize(checked_->parts().size());
    keys_.back() = {1020, 1021, 1022};
  }

 protected:
  const NodeTypeSpec& Type(const char* name) const {
    return graph_.schema.node_types[graph_.schema.FindNodeType(name)];
  }
  // Of part p, rows by number.
  static void Add(uint32_t p, const std::vector<uint32_t>& rows, std::vector<RowRef>* out) {
    for (const uint32_t row : rows) out->push_back({p, row});
  }
  proto::WriteBatch Make(const std::vector<RowRef>& rows) const {
    return MakeBatch(*checked_, keys_, rows);
  }

  const testing::MemoryGraph graph_;
  const Book book_;
  GraphChanges changes_;
  std::unique_ptr<CheckedChanges> checked_;
  GoneKeys keys_;
};

TEST_CASE_METHOD(BatchMakerTest, "rows that follow each other in a part are a part of the batch",
                 "[writes]") {
  std::vector<RowRef> rows;
  Add(0, {0, 2}, &rows);
  Add(1, {0, 2}, &rows);
  Add(2, {1, 3}, &rows);
  const proto::WriteBatch batch = Make(rows);
  REQUIRE(batch.new_nodes_size() == 2);
  CHECK(batch.new_nodes(0).keys(0) == 100);
  CHECK(batch.new_nodes(0).keys(1) == 102);
  CHECK_FALSE(batch.new_nodes(0).has_names());
  CHECK(batch.new_nodes(1).names().rows() == "xzzz");
  CHECK(batch.new_nodes(1).names().sizes(1) == 3);
  const int title = Type("item").FindRagged("title");
  CHECK(batch.new_nodes(1).ragged(title).rows() == "abcde");
  CHECK(batch.new_nodes(1).ragged(title).sizes(1) == 3);
  REQUIRE(batch.new_edges_size() == 1);
  CHECK(batch.new_edges(0).sources(1) == 4);
  CHECK(batch.new_edges(0).targets(0) == 6);
  const std::vector<char> weights = internal::BytesOf(std::vector<float>{2, 4});
  CHECK(batch.new_edges(0).columns(0).rows() == std::string(weights.begin(), weights.end()));
}

TEST_CASE_METHOD(BatchMakerTest, "each column of other values is a part of the batch", "[writes]") {
  std::vector<RowRef> rows;
  Add(3, {1}, &rows);
  Add(4, {0}, &rows);
  const proto::WriteBatch batch = Make(rows);
  REQUIRE(batch.node_rows_size() == 2);
  for (const proto::NodeRows& part : batch.node_rows()) {
    CHECK(part.nodes(0) == 11);
    const ColumnSpec& spec = Type("user").columns[part.column()];
    CHECK(part.values().rows()[0] == (spec.name == "label" ? 8 : 2));
  }
  REQUIRE(batch.edge_rows_size() == 1);
  CHECK(batch.edge_rows(0).edges().targets(0) == 3);
  CHECK(batch.edge_rows(0).edges().edge_ids(0) == 30);
}

TEST_CASE_METHOD(BatchMakerTest, "of a node that goes a shard gets what it has of it", "[writes]") {
  std::vector<RowRef> rows;
  Add(5, {1}, &rows);
  rows.push_back({6, 0, {true, false}});
  rows.push_back({6, 1, {false, true}});
  rows.push_back({6, 2, {true, true}});
  const proto::WriteBatch batch = Make(rows);
  CHECK(batch.gone_edges(0).edge_ids(0) == 20);
  REQUIRE(batch.gone_nodes_size() == 1);
  REQUIRE(batch.gone_nodes(0).nodes_size() == 2);
  CHECK(batch.gone_nodes(0).nodes(0) == 20);
  CHECK(batch.gone_nodes(0).nodes(1) == 22);
  REQUIRE(batch.gone_keys(0).keys_size() == 2);
  CHECK(batch.gone_keys(0).keys(0) == 1021);
  CHECK(batch.gone_keys(0).keys(1) == 1022);
  CHECK(Make({{6, 0, {true, false}}}).gone_keys_size() == 0);
}

TEST_CASE_METHOD(BatchMakerTest, "a batch has as many rows as its size allows, at least one",
                 "[writes]") {
  std::vector<RowRef> rows;
  Add(2, {0, 1, 2, 3}, &rows);
  const int64_t bytes = checked_->RowBytes(checked_->parts()[2], 0);
  CHECK(CountForBatch(*checked_, rows, 1) == 1);
  CHECK(CountForBatch(*checked_, rows, 3 * bytes - 1) == 2);
  CHECK(CountForBatch(*checked_, rows, 3 * bytes) == 3);
  CHECK(CountForBatch(*checked_, rows, 1000 * bytes) == 4);
}

TEST_CASE_METHOD(BatchMakerTest, "ids go where the rows of what is new were given", "[writes]") {
  std::vector<RowRef> rows;
  Add(0, {2}, &rows);
  Add(1, {0, 1}, &rows);
  Add(2, {1, 3}, &rows);
  Add(3, {0}, &rows);
  Written written;
  written.node_ids = {{-1, -1, -1}, {-1, -1, -1}};
  written.edge_ids = {{-1, -1, -1, -1}};
  AppliedBatch applied;
  applied.first_nodes = {1000, 2000};
  applied.first_edges = {3000};
  PlaceIds(*checked_, rows, applied, &written);
  CHECK(written.node_ids[0] == std::vector<int64_t>{-1, -1, 1000});
  CHECK(written.node_ids[1] == std::vector<int64_t>{2000, 2003, -1});
  CHECK(written.edge_ids[0] == std::vector<int64_t>{-1, 3000, -1, 3003});
}

}  // namespace
}  // namespace vicinity

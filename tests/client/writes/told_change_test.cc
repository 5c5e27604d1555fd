#include "client/writes/told_change.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "client/types/write_values.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using Ids = std::vector<int64_t>;

constexpr int64_t kFirstNewEdge = int64_t{1} << 48;

// Of two shards, the second with 6 of 10 users.
class ToldChangeTest {
 public:
  ToldChangeTest() : book_(*Book::Create({{0, 4, 10}})) {
    NodeTypeSpec user;
    user.name = "user";
    user.columns = {{"age", DType::kInt32, {}}};
    user.ragged = {{"clicks", DType::kInt64, 0}};
    schema_.node_types = {user};
    schema_.edge_types = {{0, "knows", 0, {{"weight", DType::kFloat32, {}}}}};
    change_.set_version(7);
    change_.set_term(3);
    change_.set_unix_micros(5);
    change_.mutable_session()->set_id("writer");
  }

 protected:
  proto::WriteBatch* batch() { return change_.mutable_batch(); }
  absl::StatusOr<ShardChange> Tell() const { return TellChange(schema_, book_, {1}, change_); }
  // Before anything else is wrong.
  void CheckRefused() {
    VICINITY_CHECK_CODE(Tell().status(), absl::StatusCode::kInternal);
    change_.clear_batch();
    change_.clear_first_nodes();
    change_.clear_first_edges();
    VICINITY_CHECK_OK(Tell());
  }

  Schema schema_;
  Book book_;
  proto::Change change_;
};

TEST_CASE_METHOD(ToldChangeTest, "what is new has the ids that it was given", "[live]") {
  for (const uint64_t first : {2, 9}) {
    proto::NewNodes* const nodes = batch()->add_new_nodes();
    nodes->add_keys(100 + first);
    nodes->add_keys(200 + first);
    change_.add_first_nodes(first);
  }
  proto::NewEdges* const edges = batch()->add_new_edges();
  edges->add_sources(3);
  edges->add_targets(8);
  change_.add_first_edges(4);
  VICINITY_ASSERT_OK_AND_ASSIGN(const ShardChange told, Tell());
  CHECK(told.shard == 1);
  CHECK(told.version == 7);
  CHECK(told.term == 3);
  CHECK(told.unix_micros == 5);
  CHECK(told.session == "writer");
  REQUIRE(told.counts.size() == 2);
  CHECK(told.counts[0].kind == ChangeKind::kNewNodes);
  CHECK(told.counts[0].count == 4);
  // 10 in the files, then every other one is the second shard's.
  CHECK(told.counts[0].nodes ==
        Ids{10 + 2 * 2 + 1, 10 + 3 * 2 + 1, 10 + 9 * 2 + 1, 10 + 10 * 2 + 1});
  CHECK(told.counts[1].kind == ChangeKind::kNewEdges);
  CHECK(told.counts[1].nodes == Ids{8});
  CHECK(told.counts[1].sources == Ids{3});
  CHECK(told.counts[1].edge_ids == Ids{kFirstNewEdge + 4 * 2 + 1});
}

TEST_CASE_METHOD(ToldChangeTest, "other values are told by column, with whose they are", "[live]") {
  proto::NodeRows* const rows = batch()->add_node_rows();
  rows->add_nodes(5);
  rows->add_nodes(4);
  proto::NodeRaggedRows* const lists = batch()->add_node_ragged_rows();
  lists->add_nodes(6);
  proto::EdgeRows* const weights = batch()->add_edge_rows();
  weights->mutable_edges()->add_targets(9);
  weights->mutable_edges()->add_edge_ids(17);
  VICINITY_ASSERT_OK_AND_ASSIGN(const ShardChange told, Tell());
  REQUIRE(told.counts.size() == 3);
  CHECK(told.counts[0].column == "age");
  CHECK(told.counts[0].nodes == Ids{5, 4});
  CHECK(told.counts[1].column == "clicks");
  CHECK(told.counts[1].nodes == Ids{6});
  CHECK(told.counts[2].column == "weight");
  CHECK(told.counts[2].nodes == Ids{9});
  CHECK(told.counts[2].edge_ids == Ids{17});
  CHECK(told.counts[2].count == 1);
}

TEST_CASE_METHOD(ToldChangeTest, "what goes counts where its key is, and has its id where it was",
                 "[live]") {
  proto::EdgeNames* const edges = batch()->add_gone_edges();
  edges->add_targets(9);
  edges->add_edge_ids(17);
  batch()->add_gone_nodes()->add_nodes(5);
  proto::GoneKeys* const keys = batch()->add_gone_keys();
  for (const uint64_t key : {31, 32, 33}) keys->add_keys(key);
  VICINITY_ASSERT_OK_AND_ASSIGN(const ShardChange told, Tell());
  REQUIRE(told.counts.size() == 2);
  CHECK(told.counts[0].kind == ChangeKind::kRemovedEdges);
  CHECK(told.counts[0].edge_ids == Ids{17});
  CHECK(told.counts[1].kind == ChangeKind::kRemovedNodes);
  CHECK(told.counts[1].nodes == Ids{5});
  CHECK(told.counts[1].count == 3);
}

TEST_CASE_METHOD(ToldChangeTest, "an entry that does not fit the schema is none", "[live]") {
  batch()->add_new_nodes()->set_node_type(1);
  change_.add_first_nodes(0);
  CheckRefused();
  batch()->add_new_nodes()->add_keys(1);  // without its number
  CheckRefused();
  batch()->add_new_nodes()->add_keys(1);
  change_.add_first_nodes(~uint64_t{0});
  CheckRefused();
  batch()->add_new_edges()->add_targets(1);  // without a source
  change_.add_first_edges(0);
  CheckRefused();
  batch()->add_node_rows()->set_column(1);
  CheckRefused();
  batch()->add_node_ragged_rows()->set_column(-1);
  CheckRefused();
  batch()->add_edge_rows()->mutable_edges()->set_edge_type(1);
  CheckRefused();
  batch()->add_gone_edges()->add_edge_ids(1);  // without a target
  CheckRefused();
  batch()->add_gone_nodes()->set_node_type(-1);
  CheckRefused();
  batch()->add_gone_keys()->set_node_type(1);
  CheckRefused();
}

}  // namespace
}  // namespace vicinity

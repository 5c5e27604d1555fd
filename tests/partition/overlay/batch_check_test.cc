#include "partition/overlay/batch_check.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_base.h"
#include "partition/schema/schema.h"
#include "proto/common/checksum.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int32_t kUser = 0;
constexpr int32_t kItem = 1;
constexpr int32_t kBuys = 0;

// Shard 0 of 2, and a batch that fits it.
class CheckTest {
 public:
  CheckTest() {
    const testing::MemoryGraph graph = testing::TypedGraph(40, 30, 12, 1);
    VICINITY_REQUIRE_OK(
        testing::WriteGraph(graph, testing::Shuffled(graph, 2, 1), folder_.File("graph")));
    auto dataset = Dataset::Open(folder_.File("graph"));
    VICINITY_REQUIRE_OK(dataset.status());
    dataset_ = *std::move(dataset);
    base_ = std::make_unique<LiveBase>(LiveBase{dataset_->schema(), dataset_->book(),
                                                *dataset_->shards()[0], dataset_->fingerprint()});
    MakeGood();
  }

  // What is said of the good batch once it was changed so.
  std::string Problem(const std::function<void(proto::WriteBatch*)>& change) const {
    proto::WriteBatch batch = good_;
    change(&batch);
    const absl::Status status = CheckBatch(*base_, batch);
    if (status.ok()) return "";
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  proto::WriteBatch good_;
  testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<LiveBase> base_;

 private:
  // A name whose key this shard lists.
  std::string NameHere(const NodeTypeSpec& type) const {
    std::string name = "n";
    while (!(base_->book.DirectoryShard(Checksum(name, type.key_salt)) == base_->shard.id())) {
      name += "n";
    }
    return name;
  }
  void MakeGood() {
    const NodeTypeSpec& item = base_->schema.node_types[kItem];
    proto::NewNodes& nodes = *good_.add_new_nodes();
    nodes.set_node_type(kItem);
    const std::string name = NameHere(item);
    nodes.add_keys(Checksum(name, item.key_salt));
    nodes.mutable_names()->add_sizes(static_cast<uint32_t>(name.size()));
    nodes.mutable_names()->set_rows(name);
    for (const ColumnSpec& column : item.columns) {
      nodes.add_columns()->set_rows(std::string(column.row_bytes(), 'x'));
    }
    for (size_t c = 0; c < item.ragged.size(); ++c) nodes.add_ragged()->add_sizes(0);

    proto::NewEdges& edges = *good_.add_new_edges();
    edges.set_edge_type(kBuys);
    edges.add_sources(0);
    edges.add_targets(0);
    for (const ColumnSpec& column : base_->schema.edge_types[kBuys].columns) {
      edges.add_columns()->set_rows(std::string(column.row_bytes(), '\0'));
    }
    proto::NodeRows& rows = *good_.add_node_rows();
    rows.set_node_type(kUser);
    rows.add_nodes(0);
    rows.mutable_values()->set_rows(
        std::string(base_->schema.node_types[kUser].columns[0].row_bytes(), 'x'));
    proto::EdgeRows& weights = *good_.add_edge_rows();
    weights.mutable_edges()->set_edge_type(kBuys);
    weights.mutable_edges()->add_targets(0);
    weights.mutable_edges()->add_edge_ids(0);
    weights.mutable_values()->set_rows(std::string(4, '\0'));
    good_.add_gone_nodes()->add_nodes(0);
    good_.add_gone_keys()->add_keys(KeyHere());
  }
  uint64_t KeyHere() const {
    uint64_t key = 0;
    while (!(base_->book.DirectoryShard(key) == base_->shard.id())) ++key;
    return key;
  }
};

TEST_CASE_METHOD(CheckTest, "a batch that fits its shard passes, an empty one does not",
                 "[batch_check]") {
  CHECK(Problem([](auto*) {}) == "");
  CHECK(Problem([](auto* batch) { batch->Clear(); }) == "the batch is empty");
}

TEST_CASE_METHOD(CheckTest, "what does not fit is named with its part and value", "[batch_check]") {
  const auto has = [&](const std::string& part, const std::string& text,
                       const std::function<void(proto::WriteBatch*)>& change) {
    const std::string problem = Problem(change);
    CAPTURE(problem, text);
    CHECK(problem.find(part) == 0);
    CHECK(problem.find(text) != std::string::npos);
  };
  has("new_nodes[0]", "no node type 9",
      [](auto* batch) { batch->mutable_new_nodes(0)->set_node_type(9); });
  has("new_nodes[0]", "no node type -1",
      [](auto* batch) { batch->mutable_new_nodes(0)->set_node_type(-1); });
  has("new_nodes[0]", "columns where there should be",
      [](auto* batch) { batch->mutable_new_nodes(0)->mutable_columns()->RemoveLast(); });
  has("new_nodes[0]", "bytes for 1 rows of", [](auto* batch) {
    batch->mutable_new_nodes(0)->mutable_columns(0)->mutable_rows()->push_back('x');
  });
  has("new_nodes[0]", "has key", [](auto* batch) {
    batch->mutable_new_nodes(0)->mutable_names()->mutable_rows()->front() = 'm';
  });
  has("new_nodes[0]", "rows up to 0 need", [](auto* batch) {
    batch->mutable_new_nodes(0)->mutable_names()->set_sizes(0, 4'000'000'000);
  });
  has("new_nodes[0]", "comes twice",
      [](auto* batch) { batch->mutable_new_nodes(0)->add_keys(batch->new_nodes(0).keys(0)); });
  has("new_nodes[0]", "ragged rows", [](auto* batch) {
    batch->mutable_new_nodes(0)->mutable_ragged(0)->mutable_rows()->push_back('x');
  });
  has("new_edges[0]", "no edge type", [](auto* batch) {
    batch->mutable_new_edges(0)->set_edge_type(std::numeric_limits<int32_t>::max());
  });
  has("new_edges[0]", "sources where there should be",
      [](auto* batch) { batch->mutable_new_edges(0)->add_sources(1); });
  has("new_edges[0]", "is no node's id",
      [](auto* batch) { batch->mutable_new_edges(0)->set_sources(0, UINT64_MAX); });
  has("new_edges[0]", "is not of shard 0", [&](auto* batch) {
    batch->mutable_new_edges(0)->set_targets(0, base_->book.num_nodes({kItem}) - 1);
  });
  has("new_edges[0]", "has weight", [](auto* batch) {
    batch->mutable_new_edges(0)->mutable_columns(0)->set_rows(std::string(4, '\xff'));
  });
  has("node_rows[0]", "no column 7",
      [](auto* batch) { batch->mutable_node_rows(0)->set_column(7); });
  has("node_rows[0]", "is not of shard 0",
      [](auto* batch) { batch->mutable_node_rows(0)->set_nodes(0, UINT64_MAX); });
  has("edge_rows[0]", "edge ids where",
      [](auto* batch) { batch->mutable_edge_rows(0)->mutable_edges()->add_targets(0); });
  has("edge_rows[0]", "not a writer's",
      [](auto* batch) { batch->mutable_edge_rows(0)->mutable_edges()->add_positions(0); });
  has("edge_rows[0]", "has weight", [](auto* batch) {
    batch->mutable_edge_rows(0)->mutable_values()->set_rows(std::string(4, '\xff'));
  });
  has("gone_keys[0]", "is listed by shard 1", [&](auto* batch) {
    uint64_t key = 0;
    while (base_->book.DirectoryShard(key) == base_->shard.id()) ++key;
    batch->mutable_gone_keys(0)->set_keys(0, key);
  });
}

}  // namespace
}  // namespace vicinity

#include "partition/overlay/live_shard.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_view.h"
#include "partition/schema/schema.h"
#include "proto/common/checksum.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int32_t kUser = 0;
constexpr int32_t kBuys = 0;

proto::WriteSession SessionOf(const std::string& id, uint64_t sequence) {
  proto::WriteSession session;
  session.set_id(id);
  session.set_sequence(sequence);
  return session;
}

absl::Time Soon() { return absl::Now() + absl::Minutes(1); }

// Shard 1 of 3 of a typed graph, its changes in a folder of their own.
class LiveTest {
 public:
  explicit LiveTest(uint64_t seed = 1)
      : graph_(testing::TypedGraph(40, 30, 12, seed)),
        placement_(testing::Shuffled(graph_, 3, seed)),
        random_(seed) {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, placement_, folder_.File("graph")));
    auto dataset = Dataset::Open(folder_.File("graph"));
    VICINITY_REQUIRE_OK(dataset.status());
    dataset_ = *std::move(dataset);
    std::vector<int64_t> num_edges;
    for (const testing::MemoryEdges& edges : graph_.edges) {
      num_edges.push_back(static_cast<int64_t>(edges.sources.size()));
    }
    base_ = std::make_unique<LiveBase>(LiveBase{dataset_->schema(), dataset_->book(),
                                                *dataset_->shards()[1], num_edges,
                                                dataset_->fingerprint()});
    model_ = std::make_unique<testing::LiveModel>(graph_, placement_, *base_);
    Reopen();
  }

  void Reopen(const LiveShardOptions& options = LiveShardOptions()) {
    shard_.reset();
    auto shard = LiveShard::Open(*base_, folder_.File("changes"), options);
    VICINITY_REQUIRE_OK(shard.status());
    shard_ = *std::move(shard);
  }

  absl::StatusOr<AppliedBatch> Apply(const proto::WriteBatch& batch,
                                     Durability durability = Durability::kBuffered) {
    auto applied = shard_->Apply(SessionOf("one", sequence_ + 1), batch, durability, Soon());
    if (applied.ok()) ++sequence_;
    if (applied.ok()) model_->Apply(*base_, batch);
    return applied;
  }
  std::string DifferenceAt(uint64_t version, const testing::LiveModel& model) const {
    const auto view = shard_->At(version);
    if (!view.ok()) return view.status().ToString();
    return model.Difference(*base_, ShardReader(base_->shard, view->get()));
  }
  std::string Difference() const { return DifferenceAt(shard_->version(), *model_); }

  uint64_t Below(uint64_t limit) { return random_() % limit; }
  std::string Bytes(size_t size) {
    std::string bytes;
    for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(Below(256)));
    return bytes;
  }
  uint64_t NodeOf(int32_t type, int64_t row) const {
    const int64_t in_files = base_->NodesInFiles(type);
    if (row >= in_files) {
      return base_->NodeIds(type).IdOf(base_->shard.id(), row - in_files);
    }
    return base_->book.First({type}, base_->shard.id()).value + row;
  }
  uint64_t AnyNode(int32_t type) {
    return NodeOf(type, static_cast<int64_t>(Below(model_->nodes(type).keys.size())));
  }
  void AnyValues(const EdgeTypeSpec& type, int column, int count, proto::ColumnValues* values) {
    const ColumnSpec& spec = type.columns[column];
    if (spec.name != type.weight_column) {
      values->set_rows(Bytes(spec.row_bytes() * count));
      return;
    }
    for (int i = 0; i < count; ++i) {
      const auto weight = static_cast<float>(Below(5));
      values->mutable_rows()->append(reinterpret_cast<const char*>(&weight), sizeof(weight));
    }
  }
  std::string AnyRagged(const RaggedSpec& spec) {
    std::string row;
    const auto count = static_cast<int32_t>(Below(4));
    for (int32_t i = 0; spec.is_sparse() && i < count; ++i) {
      row.append(reinterpret_cast<const char*>(&i), sizeof(i));
    }
    return row + Bytes(DTypeBytes(spec.dtype) * count);
  }
  void AnyNewNodes(int32_t type, int count, proto::NewNodes* nodes);
  void AnyNewEdges(int32_t type, int count, proto::NewEdges* edges);
  // False: there is none.
  bool AnyEdge(int32_t type, proto::EdgeNames* edges);
  proto::WriteBatch AnyBatch();

  testing::TempDir folder_;
  const testing::MemoryGraph graph_;
  const testing::Placement placement_;
  std::mt19937_64 random_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<LiveBase> base_;
  std::unique_ptr<testing::LiveModel> model_;
  std::unique_ptr<LiveShard> shard_;
  uint64_t sequence_ = 0;
};

void LiveTest::AnyNewNodes(int32_t type, int count, proto::NewNodes* nodes) {
  const NodeTypeSpec& spec = base_->schema.node_types[type];
  nodes->set_node_type(type);
  while (nodes->keys_size() < count) {
    const std::string name = absl::StrCat("node ", random_());
    const uint64_t key =
        spec.id_kind == IdKind::kString ? Checksum(name, spec.key_salt) : random_();
    if (!(base_->book.DirectoryShard(key) == base_->shard.id())) continue;
    nodes->add_keys(key);
    if (spec.id_kind != IdKind::kString) continue;
    nodes->mutable_names()->add_sizes(static_cast<uint32_t>(name.size()));
    nodes->mutable_names()->mutable_rows()->append(name);
  }
  for (const ColumnSpec& column : spec.columns) {
    nodes->add_columns()->set_rows(Bytes(column.row_bytes() * count));
  }
  for (const RaggedSpec& column : spec.ragged) {
    proto::RaggedValues& values = *nodes->add_ragged();
    for (int i = 0; i < count; ++i) {
      const std::string row = AnyRagged(column);
      values.add_sizes(static_cast<uint32_t>(row.size()));
      values.mutable_rows()->append(row);
    }
  }
}

void LiveTest::AnyNewEdges(int32_t type, int count, proto::NewEdges* edges) {
  const EdgeTypeSpec& spec = base_->schema.edge_types[type];
  edges->set_edge_type(type);
  for (int i = 0; i < count; ++i) {
    edges->add_sources(Below(base_->book.num_nodes({spec.source_type}) + 10));
    edges->add_targets(AnyNode(spec.target_type));
  }
  for (size_t c = 0; c < spec.columns.size(); ++c) {
    AnyValues(spec, static_cast<int>(c), count, edges->add_columns());
  }
}

bool LiveTest::AnyEdge(int32_t type, proto::EdgeNames* edges) {
  const auto& lists = model_->edges(type).lists;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const uint64_t row = Below(lists.size());
    if (lists[row].empty()) continue;
    edges->set_edge_type(type);
    edges->add_targets(NodeOf(base_->schema.edge_types[type].target_type, row));
    edges->add_edge_ids(lists[row][Below(lists[row].size())].edge_id);
    return true;
  }
  return false;
}

proto::WriteBatch LiveTest::AnyBatch() {
  proto::WriteBatch batch;
  const auto node_type = static_cast<int32_t>(Below(base_->schema.node_types.size()));
  const auto edge_type = static_cast<int32_t>(Below(base_->schema.edge_types.size()));
  const NodeTypeSpec& nodes = base_->schema.node_types[node_type];
  const EdgeTypeSpec& edges = base_->schema.edge_types[edge_type];
  const int count = 1 + static_cast<int>(Below(4));
  if (Below(4) == 0) AnyNewNodes(node_type, count, batch.add_new_nodes());
  if (Below(2) == 0) AnyNewEdges(edge_type, count, batch.add_new_edges());
  if (Below(2) == 0 && !nodes.columns.empty()) {
    proto::NodeRows& part = *batch.add_node_rows();
    part.set_node_type(node_type);
    part.set_column(static_cast<int32_t>(Below(nodes.columns.size())));
    for (int i = 0; i < count; ++i) part.add_nodes(AnyNode(node_type));
    part.mutable_values()->set_rows(Bytes(nodes.columns[part.column()].row_bytes() * count));
  }
  if (Below(3) == 0 && !nodes.ragged.empty()) {
    proto::NodeRaggedRows& part = *batch.add_node_ragged_rows();
    part.set_node_type(node_type);
    part.set_column(static_cast<int32_t>(Below(nodes.ragged.size())));
    for (int i = 0; i < count; ++i) {
      part.add_nodes(AnyNode(node_type));
      const std::string row = AnyRagged(nodes.ragged[part.column()]);
      part.mutable_values()->add_sizes(static_cast<uint32_t>(row.size()));
      part.mutable_values()->mutable_rows()->append(row);
    }
  }
  if (proto::EdgeNames edge; Below(3) == 0 && !edges.columns.empty() && AnyEdge(edge_type, &edge)) {
    proto::EdgeRows& part = *batch.add_edge_rows();
    *part.mutable_edges() = edge;
    part.set_column(static_cast<int32_t>(Below(edges.columns.size())));
    AnyValues(edges, part.column(), 1, part.mutable_values());
  }
  if (proto::EdgeNames edge; Below(3) == 0 && AnyEdge(edge_type, &edge)) {
    *batch.add_gone_edges() = edge;
  }
  if (Below(20) == 0) {
    proto::GoneNodes& part = *batch.add_gone_nodes();
    part.set_node_type(node_type);
    part.add_nodes(AnyNode(node_type));
  }
  for (const auto& [key, node] : model_->nodes(node_type).directory) {
    if (node < 0 || Below(200) > 0) continue;
    proto::GoneKeys& part = *batch.add_gone_keys();
    part.set_node_type(node_type);
    part.add_keys(key);
  }
  return batch;
}

TEST_CASE("a shard that is written at random, opened again in between, is what a naive one is",
          "[live_shard]") {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    LiveTest test(seed);
    CHECK(test.Difference() == "");
    std::vector<testing::LiveModel> models = {*test.model_};
    for (int step = 0; step < 60; ++step) {
      CAPTURE(step);
      const proto::WriteBatch batch = test.AnyBatch();
      if (batch.ByteSizeLong() == 0) continue;
      VICINITY_REQUIRE_OK(test.Apply(batch).status());
      models.push_back(*test.model_);
      REQUIRE(test.shard_->version() == models.size() - 1);
      REQUIRE(test.Difference() == "");
      const uint64_t earlier = test.Below(models.size());
      CAPTURE(earlier);
      REQUIRE(test.DifferenceAt(earlier, models[earlier]) == "");
      if (test.Below(10) == 0) test.Reopen();
    }
    test.Reopen();
    for (size_t version = 0; version < models.size(); ++version) {
      CAPTURE(version);
      CHECK(test.DifferenceAt(version, models[version]) == "");
    }
  }
}

TEST_CASE("a batch that comes again is answered as it was and not applied again", "[live_shard]") {
  LiveTest test;
  proto::WriteBatch batch;
  test.AnyNewNodes(kUser, 3, batch.add_new_nodes());
  test.AnyNewEdges(kBuys, 2, batch.add_new_edges());
  const auto first = test.Apply(batch, Durability::kSync);
  VICINITY_REQUIRE_OK(first.status());
  CHECK_FALSE(first->repeated);
  for (int time = 0; time < 2; ++time) {
    const auto again = test.shard_->Apply(SessionOf("one", 1), batch, Durability::kSync, Soon());
    VICINITY_REQUIRE_OK(again.status());
    CHECK(again->repeated);
    CHECK(again->version == first->version);
    CHECK(again->first_nodes == first->first_nodes);
    CHECK(again->first_edges == first->first_edges);
    CHECK(test.shard_->version() == 1);
    CHECK(test.Difference() == "");
    test.Reopen();
  }
  const auto gap = test.shard_->Apply(SessionOf("one", 3), batch, Durability::kSync, Soon());
  CHECK(gap.status().code() == absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a batch with one wrong part changes nothing", "[live_shard]") {
  LiveTest test;
  const auto refused = [&](const proto::WriteBatch& batch) {
    const absl::Status status = test.Apply(batch).status();
    CHECK(test.shard_->version() == 0);
    CHECK(test.Difference() == "");
    return status;
  };
  proto::WriteBatch good;
  test.AnyNewNodes(kUser, 2, good.add_new_nodes());

  proto::WriteBatch known = good;
  known.mutable_new_nodes(0)->set_keys(0, test.model_->nodes(kUser).directory.begin()->first);
  CHECK(refused(known).code() == absl::StatusCode::kAlreadyExists);

  proto::WriteBatch twice = good;
  *twice.add_new_nodes() = good.new_nodes(0);
  CHECK(refused(twice).code() == absl::StatusCode::kAlreadyExists);

  proto::WriteBatch no_edge = good;
  REQUIRE(test.AnyEdge(kBuys, no_edge.add_gone_edges()));
  no_edge.mutable_gone_edges(0)->set_edge_ids(0, 1'000'000);
  CHECK(refused(no_edge).code() == absl::StatusCode::kNotFound);

  proto::WriteBatch edge_twice = good;
  REQUIRE(test.AnyEdge(kBuys, edge_twice.add_gone_edges()));
  *edge_twice.add_gone_edges() = edge_twice.gone_edges(0);
  CHECK(refused(edge_twice).code() == absl::StatusCode::kInvalidArgument);

  proto::WriteBatch no_node = good;
  test.AnyNewEdges(kBuys, 1, no_node.add_new_edges());
  const int32_t item = test.base_->schema.edge_types[kBuys].target_type;
  no_node.mutable_new_edges(0)->set_targets(
      0, test.NodeOf(item, static_cast<int64_t>(test.model_->nodes(item).keys.size())));
  CHECK(refused(no_node).code() == absl::StatusCode::kNotFound);

  proto::WriteBatch no_key = good;
  no_key.add_gone_keys()->add_keys(good.new_nodes(0).keys(0));
  CHECK(refused(no_key).code() == absl::StatusCode::kNotFound);
  for (const size_t size : {0, 65, 1 << 20}) {  // what is kept of a writer has a limit
    const auto session = SessionOf(std::string(size, 'x'), 1);
    CHECK(test.shard_->Apply(session, good, Durability::kSync, Soon()).status().code() ==
          absl::StatusCode::kInvalidArgument);
  }
  VICINITY_CHECK_OK(test.Apply(good).status());
}

TEST_CASE("an edge that has gone or a list that was cleared is not there to be changed again",
          "[live_shard]") {
  LiveTest test;
  proto::WriteBatch add;
  test.AnyNewEdges(kBuys, 1, add.add_new_edges());
  const auto added = test.Apply(add);
  VICINITY_REQUIRE_OK(added.status());
  proto::WriteBatch remove;
  proto::EdgeNames& edge = *remove.add_gone_edges();
  edge.set_edge_type(kBuys);
  edge.add_targets(add.new_edges(0).targets(0));
  edge.add_edge_ids(added->first_edges[0]);
  VICINITY_REQUIRE_OK(test.Apply(remove).status());
  CHECK(test.Difference() == "");
  CHECK(test.Apply(remove).status().code() == absl::StatusCode::kNotFound);

  proto::WriteBatch of_file;
  REQUIRE(test.AnyEdge(kBuys, of_file.add_gone_edges()));
  proto::WriteBatch clear;
  clear.add_gone_nodes()->set_node_type(test.base_->schema.edge_types[kBuys].target_type);
  clear.mutable_gone_nodes(0)->add_nodes(of_file.gone_edges(0).targets(0));
  VICINITY_REQUIRE_OK(test.Apply(clear).status());
  CHECK(test.Difference() == "");
  CHECK(test.Apply(of_file).status().code() == absl::StatusCode::kNotFound);
}

TEST_CASE("many writers at once have every batch applied once, and no view changes meanwhile",
          "[live_shard]") {
  LiveTest test;
  proto::WriteBatch batch;
  test.AnyNewEdges(kBuys, 3, batch.add_new_edges());
  const auto before = test.shard_->Latest();
  constexpr int kWriters = 4;
  constexpr uint64_t kBatches = 50;
  std::vector<std::vector<uint64_t>> versions(kWriters);
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (uint64_t s = 1; s <= kBatches; ++s) {
        const auto durability = s % 8 == 0 ? Durability::kSync : Durability::kBuffered;
        const auto applied =
            test.shard_->Apply(SessionOf(absl::StrCat("writer ", w), s), batch, durability, Soon());
        versions[w].push_back(applied.ok() ? applied->version : 0);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::vector<uint64_t> all;
  for (const auto& of_writer : versions) {
    CHECK(std::is_sorted(of_writer.begin(), of_writer.end()));
    all.insert(all.end(), of_writer.begin(), of_writer.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<uint64_t> wanted;
  for (uint64_t v = 1; v <= kWriters * kBatches; ++v) wanted.push_back(v);
  CHECK(all == wanted);
  CHECK(test.model_->Difference(*test.base_, ShardReader(test.base_->shard, before.get())) == "");
  for (size_t i = 0; i < wanted.size(); ++i) test.model_->Apply(*test.base_, batch);
  CHECK(test.Difference() == "");
  test.Reopen();
  CHECK(test.Difference() == "");
}

TEST_CASE("changes belong to one shard of one dataset", "[live_shard]") {
  LiveTest test;
  test.shard_.reset();
  LiveBase other = *test.base_;
  other.fingerprint ^= 1;
  const auto opened = LiveShard::Open(other, test.folder_.File("changes"), LiveShardOptions());
  CHECK(opened.status().code() == absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a list's weights and edges come from a bounded cache or are made again",
          "[live_shard]") {
  LiveTest test;
  LiveShardOptions tiny;
  tiny.list_cache_bytes = 0;
  test.Reopen(tiny);
  for (int step = 0; step < 20; ++step) {
    proto::WriteBatch batch;
    test.AnyNewEdges(kBuys, 3, batch.add_new_edges());
    VICINITY_REQUIRE_OK(test.Apply(batch).status());
    REQUIRE(test.Difference() == "");
  }
}

}  // namespace
}  // namespace vicinity

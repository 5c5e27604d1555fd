#include "partition/overlay/live_shard.h"

#include <rocksdb/env.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
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
#include "partition/overlay/change_file.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_view.h"
#include "partition/schema/schema.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/random_batches.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/power/full_fs.h"
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
        placement_(testing::Shuffled(graph_, 3, seed)) {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, placement_, folder_.File("graph")));
    auto dataset = Dataset::Open(folder_.File("graph"));
    VICINITY_REQUIRE_OK(dataset.status());
    dataset_ = *std::move(dataset);
    base_ = std::make_unique<LiveBase>(LiveBase{dataset_->schema(), dataset_->book(),
                                                *dataset_->shards()[1], dataset_->fingerprint()});
    model_ = std::make_unique<testing::LiveModel>(graph_, placement_, *base_);
    any_ = std::make_unique<testing::RandomBatches>(*base_, *model_, seed);
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

  uint64_t NodeOf(int32_t type, int64_t row) const { return any_->NodeOf(type, row); }

  testing::TempDir folder_;
  const testing::MemoryGraph graph_;
  const testing::Placement placement_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<LiveBase> base_;
  std::unique_ptr<testing::LiveModel> model_;
  std::unique_ptr<testing::RandomBatches> any_;
  std::unique_ptr<LiveShard> shard_;
  uint64_t sequence_ = 0;
};

TEST_CASE("a shard that is written at random, opened again in between, is what a naive one is",
          "[live_shard]") {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    LiveTest test(seed);
    CHECK(test.Difference() == "");
    std::vector<testing::LiveModel> models = {*test.model_};
    for (int step = 0; step < 60; ++step) {
      CAPTURE(step);
      const proto::WriteBatch batch = test.any_->Batch();
      if (batch.ByteSizeLong() == 0) continue;
      VICINITY_REQUIRE_OK(test.Apply(batch).status());
      models.push_back(*test.model_);
      REQUIRE(test.shard_->version() == models.size() - 1);
      REQUIRE(test.Difference() == "");
      const uint64_t earlier = test.any_->Below(models.size());
      CAPTURE(earlier);
      REQUIRE(test.DifferenceAt(earlier, models[earlier]) == "");
      if (test.any_->Below(10) == 0) test.Reopen();
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
  test.any_->AddNewNodes(kUser, 3, batch.add_new_nodes());
  test.any_->AddNewEdges(kBuys, 2, batch.add_new_edges());
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
  CHECK(gap.status().code() == absl::StatusCode::kOutOfRange);
}

// A shard of its own over the same files.
std::unique_ptr<LiveShard> AnotherShard(const LiveTest& test, const std::string& folder) {
  auto shard = LiveShard::Open(*test.base_, test.folder_.File(folder), LiveShardOptions());
  VICINITY_REQUIRE_OK(shard.status());
  return *std::move(shard);
}

TEST_CASE("changes that are kept in a file and repeated make the same shard, at every version",
          "[live_shard]") {
  LiveTest test(5);
  const std::string path = test.folder_.File("kept");
  const std::string identity = test.base_->Identity();
  std::vector<testing::LiveModel> models = {*test.model_};
  for (int step = 0; step < 80; ++step) {
    const proto::WriteBatch batch = test.any_->Batch();
    if (batch.ByteSizeLong() == 0) continue;
    VICINITY_REQUIRE_OK(test.Apply(batch).status());
    models.push_back(*test.model_);
    if (step % 20 != 19) continue;
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, ChangeFile::Open(path, identity));
    for (uint64_t version = file->last_version() + 1; version < models.size(); ++version) {
      VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Change change, test.shard_->ReadChange(version));
      VICINITY_REQUIRE_OK(file->Append(change));
    }
    VICINITY_REQUIRE_OK(file->Sync());
  }
  const auto again = AnotherShard(test, "again");
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const ChangeFileFacts facts, ReadChangeFile(path, [&](proto::Change change) {
        return again->Repeat(std::move(change), Durability::kBuffered, Soon());
      }));
  CHECK(facts.identity == identity);
  CHECK(facts.last_version == models.size() - 1);
  CHECK_FALSE(facts.half_written);
  for (size_t version = 0; version < models.size(); ++version) {
    const auto view = again->At(version);
    VICINITY_REQUIRE_OK(view.status());
    CHECK(models[version].Difference(*test.base_, ShardReader(test.base_->shard, view->get())) ==
          "");
  }
  // Whoever wrote the batches first may send them again.
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Change last,
                                test.shard_->ReadChange(test.shard_->version()));
  CHECK(again->Repeat(last, Durability::kBuffered, Soon()).code() ==
        absl::StatusCode::kInvalidArgument);
}

// Its changes are as a backup has them: with terms, and nothing of who wrote.
TEST_CASE("what is restored of a later term, and nobody else has, is written in a term of its own",
          "[live_shard]") {
  LiveTest test(7);
  const auto add_nodes = [&](int count) {
    proto::WriteBatch batch;
    test.any_->AddNewNodes(kUser, count, batch.add_new_nodes());
    return batch;
  };
  const auto restore = [&](const std::string& folder, uint64_t last) {
    auto restored = AnotherShard(test, folder);
    for (uint64_t version = 1; version <= last; ++version) {
      VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Change change, test.shard_->ReadChange(version));
      VICINITY_REQUIRE_OK(restored->Repeat(change, Durability::kBuffered, Soon()));
    }
    CHECK(restored->writer() == WriterTerm{0, ""});  // it is not written yet
    return restored;
  };
  VICINITY_REQUIRE_OK(test.Apply(add_nodes(1)).status());
  VICINITY_REQUIRE_OK(test.shard_->Appoint({3, "b"}));
  VICINITY_REQUIRE_OK(test.Apply(add_nodes(2)).status());
  VICINITY_REQUIRE_OK(test.Apply(add_nodes(3)).status());  // which is behind the backup
  const ShardVersion lost = test.shard_->SizesAt(3);
  REQUIRE(lost.term == 3);

  const auto first = restore("first", 1);  // of before anybody was promoted
  VICINITY_REQUIRE_OK(
      first->Apply(SessionOf("new", 1), add_nodes(4), Durability::kSync, Soon()).status());
  CHECK(first->position() == LogPosition{2, 0});
  restore("restored", 2).reset();
  auto restored = AnotherShard(test, "restored");
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const AppliedBatch applied,
      restored->Apply(SessionOf("new", 1), add_nodes(4), Durability::kSync, Soon()));
  CHECK(applied.version == lost.version);
  CHECK(applied.term == 4);
  const absl::Status taken_back = restored->At(lost.version, lost.term).status();
  CHECK(taken_back.code() == absl::StatusCode::kOutOfRange);
  CHECK_THAT(std::string(taken_back.message()), Catch::Contains("taken back"));
  VICINITY_CHECK_OK(restored->At(2, 3).status());
  restored.reset();
  restored = AnotherShard(test, "restored");
  CHECK(restored->writer() == WriterTerm{4, ""});
  VICINITY_REQUIRE_OK(
      restored->Apply(SessionOf("new", 2), add_nodes(5), Durability::kSync, Soon()).status());
  CHECK(restored->position() == LogPosition{4, 4});
  // And what is kept of that is restored in its turn.
  const auto again = AnotherShard(test, "again");
  for (uint64_t version = 1; version <= 4; ++version) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Change change, restored->ReadChange(version));
    VICINITY_REQUIRE_OK(again->Repeat(change, Durability::kBuffered, Soon()));
  }
  CHECK(again->position() == LogPosition{4, 4});
}

TEST_CASE("what was restored is written in no term that a full disk does not keep",
          "[live_shard]") {
  const auto fs = std::make_shared<testing::FullFs>();
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(fs);
  LiveTest test;
  proto::WriteBatch batch;
  test.any_->AddNewNodes(kUser, 3, batch.add_new_nodes());
  VICINITY_REQUIRE_OK(test.shard_->Appoint({3, "b"}));
  VICINITY_REQUIRE_OK(test.Apply(batch).status());
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Change change, test.shard_->ReadChange(1));
  LiveShardOptions options;
  options.store.env = env.get();
  options.free_bytes = [] { return int64_t{1} << 40; };
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const auto restored, LiveShard::Open(*test.base_, test.folder_.File("restored"), options));
  VICINITY_REQUIRE_OK(restored->Repeat(change, Durability::kSync, Soon()));
  proto::WriteBatch next;
  test.any_->AddNewNodes(kUser, 2, next.add_new_nodes());
  const auto apply = [&] {
    return restored->Apply(SessionOf("new", 1), next, Durability::kSync, Soon());
  };
  fs->SetRoom(0);
  CHECK(apply().status().code() == absl::StatusCode::kResourceExhausted);
  CHECK(restored->writer() == WriterTerm{0, ""});
  CHECK(restored->position() == LogPosition{1, 3});
  fs->SetRoom(-1);
  absl::StatusOr<AppliedBatch> applied = apply();
  for (int time = 0; time < 1000 && !applied.ok(); ++time) {
    CHECK(applied.status().code() == absl::StatusCode::kResourceExhausted);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    applied = apply();
  }
  VICINITY_REQUIRE_OK(applied.status());
  CHECK(applied->term == 4);
  CHECK_FALSE(applied->repeated);
  CHECK(restored->writer() == WriterTerm{4, ""});
}

TEST_CASE("a file of changes is taken up where it is whole, and damage in it has a version",
          "[live_shard]") {
  LiveTest test(6);
  const std::string path = test.folder_.File("kept");
  const std::string identity = test.base_->Identity();
  const auto keep = [&](uint64_t until) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, ChangeFile::Open(path, identity));
    while (file->last_version() < until) {
      VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Change change,
                                    test.shard_->ReadChange(file->last_version() + 1));
      VICINITY_REQUIRE_OK(file->Append(change));
    }
  };
  while (test.shard_->version() < 10) {
    const proto::WriteBatch batch = test.any_->Batch();
    if (batch.ByteSizeLong() > 0) VICINITY_REQUIRE_OK(test.Apply(batch).status());
  }
  keep(10);
  const auto size = std::filesystem::file_size(path);
  for (const uintmax_t left : {size - 1, size / 2, uintmax_t{5}, uintmax_t{0}}) {
    CAPTURE(left);
    std::filesystem::resize_file(path, left);
    VICINITY_ASSERT_OK_AND_ASSIGN(const ChangeFileFacts cut, ReadChangeFile(path, nullptr));
    CHECK(cut.last_version < 10);
    CHECK((cut.half_written || cut.bytes == static_cast<int64_t>(left)));
    keep(10);
    CHECK(std::filesystem::file_size(path) == size);
  }
  CHECK(ChangeFile::Open(path, "shard 0 of another").status().code() ==
        absl::StatusCode::kFailedPrecondition);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string whole, ReadFile(path));
  for (uint64_t round = 0; round < 200; ++round) {
    std::string bad = whole;
    const uint64_t at = test.any_->Below(bad.size() * 8);
    bad[at / 8] = static_cast<char>(bad[at / 8] ^ (1 << at % 8));
    VICINITY_REQUIRE_OK(WriteFileAtomically(path, bad));
    const auto read = ReadChangeFile(path, nullptr);
    CAPTURE(at);
    // A length that grew makes the end look as if it had not been written.
    CHECK((!read.ok() || read->half_written));
    if (!read.ok()) CHECK(read.status().code() == absl::StatusCode::kDataLoss);
  }
}

TEST_CASE("a full disk refuses what is new, answers repeats and reads, and is written again",
          "[live_shard]") {
  LiveTest test;
  int64_t free = 10 << 20;
  LiveShardOptions options;
  options.least_free_bytes = 1 << 20;
  options.free_bytes = [&] { return free; };
  test.Reopen(options);
  proto::WriteBatch batch;
  test.any_->AddNewNodes(kUser, 3, batch.add_new_nodes());
  VICINITY_REQUIRE_OK(test.Apply(batch).status());
  proto::WriteBatch more;
  test.any_->AddNewNodes(kUser, 2, more.add_new_nodes());
  for (int64_t little : {int64_t{1} << 20, int64_t{0}}) {
    free = little;
    CHECK(test.Apply(more).status().code() == absl::StatusCode::kResourceExhausted);
    const auto again = test.shard_->Apply(SessionOf("one", 1), batch, Durability::kSync, Soon());
    VICINITY_REQUIRE_OK(again.status());
    CHECK(again->repeated);
    CHECK(test.shard_->version() == 1);
    CHECK(test.Difference() == "");
  }
  free = 10 << 20;
  VICINITY_REQUIRE_OK(test.Apply(more).status());
  CHECK(test.Difference() == "");
}

// A full disk below RocksDB, in the middle of a stream of batches by a writer who sends again
// what is refused: what the shard is then is what a naive one is that was given each batch once.
TEST_CASE("a shard whose disk got full is read, and applies each batch once when there is room",
          "[live_shard]") {
  const auto fs = std::make_shared<testing::FullFs>();
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(fs);
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    LiveTest test(seed);
    LiveShardOptions options;
    options.store.env = env.get();
    options.free_bytes = [] { return int64_t{1} << 40; };
    test.Reopen(options);
    std::vector<testing::LiveModel> models = {*test.model_};
    for (int step = 0; step < 40; ++step) {
      CAPTURE(step);
      const proto::WriteBatch batch = test.any_->Batch();
      if (batch.ByteSizeLong() == 0) continue;
      const auto durability = test.any_->Below(2) == 0 ? Durability::kSync : Durability::kBuffered;
      const bool fills = test.any_->Below(3) == 0;
      if (fills && test.any_->Below(3) == 0) fs->RefuseSyncs(true);
      if (fills) fs->SetRoom(static_cast<int64_t>(test.any_->Below(400)));
      absl::StatusOr<AppliedBatch> applied = test.Apply(batch, durability);
      for (int time = 0; time < 3 && !applied.ok(); ++time) {
        CHECK(applied.status().code() == absl::StatusCode::kResourceExhausted);
        CHECK(test.shard_->version() == models.size() - 1);
        REQUIRE(test.Difference() == "");
        applied = test.Apply(batch, durability);
      }
      fs->SetRoom(-1);
      fs->RefuseSyncs(false);
      for (int time = 0; time < 1000 && !applied.ok(); ++time) {
        CHECK(applied.status().code() == absl::StatusCode::kResourceExhausted);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        applied = test.Apply(batch, durability);
      }
      VICINITY_REQUIRE_OK(applied.status());
      models.push_back(*test.model_);
      CHECK(applied->version == models.size() - 1);
      REQUIRE(test.shard_->version() == models.size() - 1);
      REQUIRE(test.Difference() == "");
    }
    test.Reopen();
    for (size_t version = 0; version < models.size(); ++version) {
      CAPTURE(version);
      CHECK(test.DifferenceAt(version, models[version]) == "");
    }
  }
}

TEST_CASE(
    "a batch that a full disk stopped is applied before the next, though nobody sends it again",
    "[live_shard]") {
  const auto fs = std::make_shared<testing::FullFs>();
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(fs);
  LiveTest test;
  int64_t free = int64_t{1} << 40;
  LiveShardOptions options;
  options.store.env = env.get();
  options.free_bytes = [&] { return free; };
  test.Reopen(options);
  proto::WriteBatch stopped;
  test.any_->AddNewNodes(kUser, 3, stopped.add_new_nodes());
  fs->SetRoom(20);
  const auto session = SessionOf("another", 1);
  CHECK(test.shard_->Apply(session, stopped, Durability::kSync, Soon()).status().code() ==
        absl::StatusCode::kResourceExhausted);
  CHECK(test.shard_->version() == 0);
  // Neither it nor what comes after it, until its shard fits to be opened again.
  fs->SetRoom(-1);
  free = 1000;
  proto::WriteBatch next;
  test.any_->AddNewNodes(kUser, 2, next.add_new_nodes());
  CHECK(test.shard_->Apply(session, stopped, Durability::kSync, Soon()).status().code() ==
        absl::StatusCode::kResourceExhausted);
  CHECK(test.Apply(next).status().code() == absl::StatusCode::kResourceExhausted);
  CHECK(test.shard_->Sync().code() == absl::StatusCode::kResourceExhausted);
  CHECK(test.shard_->Appoint({1, "b"}).code() == absl::StatusCode::kResourceExhausted);
  CHECK(test.shard_->writer().term == 0);
  free = int64_t{1} << 40;
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  test.model_->Apply(*test.base_, stopped);
  VICINITY_REQUIRE_OK(test.Apply(next).status());
  CHECK(test.shard_->version() == 2);
  CHECK(test.Difference() == "");
  const auto again = test.shard_->Apply(session, stopped, Durability::kSync, Soon());
  VICINITY_REQUIRE_OK(again.status());
  CHECK(again->repeated);
  CHECK(again->version == 1);
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
  test.any_->AddNewNodes(kUser, 2, good.add_new_nodes());

  proto::WriteBatch known = good;
  known.mutable_new_nodes(0)->set_keys(0, test.model_->nodes(kUser).directory.begin()->first);
  CHECK(refused(known).code() == absl::StatusCode::kAlreadyExists);

  proto::WriteBatch twice = good;
  *twice.add_new_nodes() = good.new_nodes(0);
  CHECK(refused(twice).code() == absl::StatusCode::kAlreadyExists);

  proto::WriteBatch no_edge = good;
  REQUIRE(test.any_->NameEdge(kBuys, no_edge.add_gone_edges()));
  no_edge.mutable_gone_edges(0)->set_edge_ids(0, 1'000'000);
  CHECK(refused(no_edge).code() == absl::StatusCode::kNotFound);

  proto::WriteBatch edge_twice = good;
  REQUIRE(test.any_->NameEdge(kBuys, edge_twice.add_gone_edges()));
  *edge_twice.add_gone_edges() = edge_twice.gone_edges(0);
  CHECK(refused(edge_twice).code() == absl::StatusCode::kInvalidArgument);

  proto::WriteBatch no_node = good;
  test.any_->AddNewEdges(kBuys, 1, no_node.add_new_edges());
  const int32_t item = test.base_->schema.edge_types[kBuys].target_type;
  no_node.mutable_new_edges(0)->set_targets(
      0, test.NodeOf(item, static_cast<int64_t>(test.model_->nodes(item).keys.size())));
  CHECK(refused(no_node).code() == absl::StatusCode::kNotFound);

  proto::WriteBatch no_source = good;
  test.any_->AddNewEdges(kBuys, 1, no_source.add_new_edges());
  no_source.mutable_new_edges(0)->set_sources(
      0, test.NodeOf(kUser, static_cast<int64_t>(test.model_->nodes(kUser).keys.size())));
  CHECK(refused(no_source).code() == absl::StatusCode::kNotFound);

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
  test.any_->AddNewEdges(kBuys, 1, add.add_new_edges());
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
  REQUIRE(test.any_->NameEdge(kBuys, of_file.add_gone_edges()));
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
  test.any_->AddNewEdges(kBuys, 3, batch.add_new_edges());
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
    test.any_->AddNewEdges(kBuys, 3, batch.add_new_edges());
    VICINITY_REQUIRE_OK(test.Apply(batch).status());
    REQUIRE(test.Difference() == "");
  }
}

}  // namespace
}  // namespace vicinity

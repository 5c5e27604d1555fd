#include "client/writes/change_writer.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "client/types/result.h"
#include "client/types/write_values.h"
#include "partition/dataset/book.h"
#include "proto/live.pb.h"
#include "tests/client/far_shard.h"
#include "tests/client/writes/recording_shard.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::FarShard;
using testing::Faults;
using testing::RecordingShard;

constexpr int64_t kNumNodes = 60;

absl::Status Away() { return absl::UnavailableError("away"); }

// A graph of one type of nodes without columns and one of edges, on recording shards.
class WritingTest {
 public:
  explicit WritingTest(int32_t num_shards = 3, bool far = false) {
    testing::RandomGraphOptions shape;
    shape.num_nodes = kNumNodes;
    shape.feature_width = 0;
    shape.num_classes = 0;
    shape.splits = false;
    graph_ = testing::RandomGraph(shape);
    placement_ = testing::Shuffled(graph_, num_shards, 3);
    std::vector<std::unique_ptr<ShardAccess>> shards;
    for (int32_t s = 0; s < num_shards; ++s) {
      auto shard =
          std::make_unique<RecordingShard>(s, num_shards, 1, placement_.book.num_nodes({0}, {s}));
      recorded_.push_back(shard.get());
      if (far) {
        shards.push_back(std::make_unique<FarShard>(std::move(shard), &faults_));
      } else {
        shards.push_back(std::move(shard));
      }
    }
    router_ = std::make_unique<ShardRouter>(graph_.schema, placement_.book, std::move(shards));
    options_.first_wait = std::chrono::microseconds(10);
    options_.make_session = [this] { return absl::StrCat("session ", ++num_sessions_); };
  }

 protected:
  const Book& book() const { return placement_.book; }
  ShardId OwnerOf(int64_t node) const { return book().OwnerOf({0}, {node}); }
  RecordingShard& shard(int32_t s) { return *recorded_[s]; }

  void MakeWriter() { writer_ = std::make_unique<ChangeWriter>(*router_, options_); }

  // `sources` tell edges apart.
  static GraphChanges Edges(const std::vector<int64_t>& sources,
                            const std::vector<int64_t>& targets) {
    NewEdges edges;
    edges.edge_type = "links";
    edges.sources = sources;
    edges.targets = targets;
    GraphChanges changes;
    changes.new_edges = {edges};
    return changes;
  }
  // A target of shard s, and sources 0, 1, ...
  GraphChanges EdgesTo(int32_t s, int64_t count) const {
    std::vector<int64_t> sources;
    for (int64_t i = 0; i < count; ++i) sources.push_back(i % kNumNodes);
    return Edges(sources, std::vector<int64_t>(count, book().First({0}, {s}).value));
  }
  static std::vector<uint64_t> SourcesOf(const std::vector<proto::WriteBatch>& batches) {
    std::vector<uint64_t> sources;
    for (const proto::WriteBatch& batch : batches) {
      for (const proto::NewEdges& part : batch.new_edges()) {
        sources.insert(sources.end(), part.sources().begin(), part.sources().end());
      }
    }
    return sources;
  }

  absl::Status Write(const GraphChanges& changes) {
    return writer_->Write(changes, nullptr, &written_);
  }

  testing::MemoryGraph graph_;
  testing::Placement placement_{{}, *Book::Create({{0, 1}})};
  Faults faults_;
  std::vector<RecordingShard*> recorded_;
  std::unique_ptr<ShardRouter> router_;
  std::atomic<int> num_sessions_{0};
  ChangeWriterOptions options_;
  std::unique_ptr<ChangeWriter> writer_;
  Written written_;
};

TEST_CASE_METHOD(WritingTest, "edges go to the owners of their targets in the order given",
                 "[writes]") {
  MakeWriter();
  std::vector<int64_t> sources;
  std::vector<int64_t> targets;
  for (int64_t i = 0; i < kNumNodes; ++i) {
    sources.push_back(i);
    targets.push_back(i * 7 % kNumNodes);
  }
  VICINITY_REQUIRE_OK(Write(Edges(sources, targets)));
  CHECK(written_.num_applied == kNumNodes);
  CHECK(written_.versions.size() == 3);
  std::vector<int64_t> next(3, 0);
  for (int64_t i = 0; i < kNumNodes; ++i) {
    const int32_t owner = OwnerOf(targets[i]).value;
    const std::vector<uint64_t> there = SourcesOf(shard(owner).applied());
    REQUIRE(next[owner] < static_cast<int64_t>(there.size()));
    CHECK(there[next[owner]] == static_cast<uint64_t>(i));
    // Ids rise by the number of shards.
    CHECK(written_.edge_ids[0][i] == RecordingShard::kFirstId + 3 * next[owner] + owner);
    ++next[owner];
  }
}

TEST_CASE_METHOD(WritingTest, "batches are cut by size and numbered from 1 in one session",
                 "[writes]") {
  options_.batch_bytes = 160;
  MakeWriter();
  VICINITY_REQUIRE_OK(Write(EdgesTo(1, 55)));
  VICINITY_REQUIRE_OK(Write(EdgesTo(1, 1)));
  const std::vector<proto::WriteBatch> batches = shard(1).applied();
  REQUIRE(batches.size() == 7);
  CHECK(batches[0].new_edges(0).sources_size() == 10);
  CHECK(batches[5].new_edges(0).sources_size() == 5);
  CHECK(SourcesOf(batches).size() == 56);
  CHECK(written_.versions[0].version == 7);
  const std::vector<proto::WriteSession> sent = shard(1).sent();
  for (size_t i = 0; i < sent.size(); ++i) {
    CHECK(sent[i].sequence() == i + 1);
    CHECK(sent[i].id() == sent[0].id());
  }
}

TEST_CASE_METHOD(WritingTest, "a row larger than a batch has one to itself", "[writes]") {
  options_.batch_bytes = 1;
  MakeWriter();
  VICINITY_REQUIRE_OK(Write(EdgesTo(0, 3)));
  CHECK(shard(0).applied().size() == 3);
}

TEST_CASE_METHOD(WritingTest, "a batch without an answer is sent again and applied once",
                 "[writes]") {
  options_.batch_bytes = 160;
  MakeWriter();
  const bool applied = GENERATE(false, true);
  shard(1).AddFates({{}, {Away(), applied}, {absl::DeadlineExceededError("late"), false}, {}});
  VICINITY_REQUIRE_OK(Write(EdgesTo(1, 30)));
  std::vector<uint64_t> expected;
  for (uint64_t i = 0; i < 30; ++i) expected.push_back(i);
  CHECK(SourcesOf(shard(1).applied()) == expected);
  std::vector<uint64_t> numbers;
  for (const auto& session : shard(1).sent()) numbers.push_back(session.sequence());
  CHECK(numbers == std::vector<uint64_t>{1, 2, 2, 2, 3});
  CHECK(std::count(written_.edge_ids[0].begin(), written_.edge_ids[0].end(), -1) == 0);
}

TEST_CASE_METHOD(WritingTest, "exactly the wrong rows are refused, and the others written",
                 "[writes]") {
  MakeWriter();
  const std::set<uint64_t> wrong = GENERATE(std::set<uint64_t>{0}, std::set<uint64_t>{31, 32},
                                            std::set<uint64_t>{5, 17, 59}, std::set<uint64_t>{59});
  shard(2).set_judge([&](const proto::WriteBatch& batch) -> absl::Status {
    for (const uint64_t source : SourcesOf({batch})) {
      if (wrong.count(source) > 0) return absl::NotFoundError(absl::StrCat("no ", source));
    }
    return absl::OkStatus();
  });
  VICINITY_REQUIRE_OK(Write(EdgesTo(2, kNumNodes)));
  REQUIRE(written_.refused.size() == wrong.size());
  size_t i = 0;
  for (const uint64_t row : wrong) {
    CHECK(written_.refused[i].what.kind == ChangeKind::kNewEdges);
    CHECK(written_.refused[i].what.row == static_cast<int64_t>(row));
    CHECK(written_.refused[i].why.code() == ErrorCode::kNotFound);
    CHECK(written_.refused[i].why.message() == absl::StrCat("no ", row));
    CHECK(written_.edge_ids[0][row] == -1);
    ++i;
  }
  std::vector<uint64_t> expected;
  for (uint64_t source = 0; source < kNumNodes; ++source) {
    if (wrong.count(source) == 0) expected.push_back(source);
  }
  CHECK(SourcesOf(shard(2).applied()) == expected);
  CHECK(written_.num_applied == static_cast<int64_t>(expected.size()));
  // 6 is the logarithm of 60: at each depth the half with a wrong row and its sibling.
  CHECK(shard(2).sent().size() <= 1 + 2 * 6 * wrong.size());
}

TEST_CASE_METHOD(WritingTest, "rows that no graph could take are refused before anything is sent",
                 "[writes]") {
  MakeWriter();
  VICINITY_REQUIRE_OK(Write(Edges({1, -1, 2}, {3, 4, -7})));
  CHECK(written_.num_applied == 1);
  REQUIRE(written_.refused.size() == 2);
  CHECK(written_.refused[0].what.row == 1);
  CHECK(written_.refused[1].what.row == 2);
  CHECK(written_.refused[0].why.code() == ErrorCode::kInvalidArgument);
}

TEST_CASE_METHOD(WritingTest, "an edge's source is there, or the edge is refused", "[writes]") {
  MakeWriter();
  const int64_t target = book().First({0}, {1}).value;
  VICINITY_REQUIRE_OK(Write(Edges({1, 5000, 2}, {target, target, target})));
  REQUIRE(written_.refused.size() == 1);
  CHECK(written_.refused[0].what.row == 1);
  CHECK(written_.refused[0].why.code() == ErrorCode::kNotFound);
  CHECK(SourcesOf(shard(1).applied()) == std::vector<uint64_t>{1, 2});
  const auto barriers = [&] {
    return shard(0).num_barriers() + shard(1).num_barriers() + shard(2).num_barriers();
  };
  CHECK(barriers() == 1);

  // Nodes that this writer has written need not be asked for.
  GraphChanges changes;
  changes.new_nodes = {{"node", {70, 71, 72, 73}}};
  VICINITY_REQUIRE_OK(Write(changes));
  const std::vector<int64_t> ids = written_.node_ids[0];
  VICINITY_REQUIRE_OK(Write(Edges(ids, std::vector<int64_t>(ids.size(), target))));
  CHECK(written_.num_applied == 4);
  CHECK(barriers() == 1);
}

TEST_CASE_METHOD(WritingTest, "what got no answer in time is told, and settled before all else",
                 "[writes]") {
  options_.batch_bytes = 160;
  options_.give_up_after = std::chrono::nanoseconds(0);
  MakeWriter();
  const bool applied = GENERATE(false, true);
  shard(1).AddFates({{}, {Away(), applied}});
  GraphChanges changes = EdgesTo(1, 30);
  changes.new_edges.push_back(EdgesTo(0, 5).new_edges[0]);
  VICINITY_CHECK_CODE(Write(changes), absl::StatusCode::kUnavailable);
  CHECK(written_.num_applied == 15);
  REQUIRE(written_.unsure.size() == 10);
  CHECK(written_.unsure[0].row == 10);
  REQUIRE(written_.unsent.size() == 10);
  CHECK(written_.unsent[0].row == 20);
  CHECK(written_.edge_ids[0][9] >= 0);
  CHECK(written_.edge_ids[0][10] == -1);

  // Once its server is back: first what was left open, then the rest, each once.
  VICINITY_REQUIRE_OK(Write(Edges({40}, {book().First({0}, {1}).value})));
  CHECK(written_.num_applied == 1);
  const std::vector<uint64_t> there = SourcesOf(shard(1).applied());
  REQUIRE(there.size() == 21);
  CHECK(there[19] == 19);
  CHECK(there[20] == 40);
}

TEST_CASE_METHOD(WritingTest,
                 "a call that cannot settle what is left open sends nothing of its own",
                 "[writes]") {
  options_.give_up_after = std::chrono::nanoseconds(0);
  MakeWriter();
  shard(1).AddFates({{Away(), false}, {Away(), false}});
  VICINITY_CHECK_CODE(Write(EdgesTo(1, 3)), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(Write(EdgesTo(1, 5)), absl::StatusCode::kUnavailable);
  CHECK(written_.unsure.empty());
  CHECK(written_.unsent.size() == 5);
  VICINITY_REQUIRE_OK(Write(EdgesTo(1, 5)));
  CHECK(SourcesOf(shard(1).applied()).size() == 8);
}

TEST_CASE_METHOD(WritingTest, "a session that the server has forgotten is begun anew", "[writes]") {
  MakeWriter();
  VICINITY_REQUIRE_OK(Write(EdgesTo(1, 3)));
  VICINITY_REQUIRE_OK(Write(EdgesTo(1, 3)));
  shard(1).ForgetSessions();
  VICINITY_REQUIRE_OK(Write(EdgesTo(1, 4)));
  CHECK(SourcesOf(shard(1).applied()).size() == 10);
  CHECK(shard(1).sent().back().sequence() == 1);
  CHECK(num_sessions_ == 2);
}

TEST_CASE_METHOD(WritingTest, "a batch whose session is forgotten midway is not sent again",
                 "[writes]") {
  MakeWriter();
  VICINITY_REQUIRE_OK(Write(EdgesTo(1, 3)));
  shard(1).AddFates({{Away(), true}, {absl::OutOfRangeError("forgotten"), false}});
  VICINITY_CHECK_CODE(Write(EdgesTo(1, 4)), absl::StatusCode::kOutOfRange);
  CHECK(written_.unsure.size() == 4);
  // The writer goes on.
  VICINITY_REQUIRE_OK(Write(EdgesTo(1, 2)));
  CHECK(SourcesOf(shard(1).applied()).size() == 9);
}

TEST_CASE_METHOD(WritingTest, "a graph that is read-only is told as such, and nothing is left open",
                 "[writes]") {
  MakeWriter();
  for (int s = 0; s < 3; ++s) shard(s).AddFates({{absl::UnimplementedError("no"), false}});
  const absl::Status status = Write(Edges({1, 2, 3}, {1, 2, 3}));
  VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()), Catch::Contains("read-only"));
  CHECK(written_.unsure.empty());
  CHECK(written_.unsent.size() == 3);
}

TEST_CASE_METHOD(WritingTest,
                 "a node that goes leaves its own shard and the one that lists its key",
                 "[writes]") {
  MakeWriter();
  std::map<int32_t, std::set<uint64_t>> nodes;
  std::map<int32_t, std::set<uint64_t>> keys;
  RemovedNodes removed;
  removed.node_type = "node";
  for (int64_t node = 0; node < kNumNodes; node += 5) {
    const Book::Place place = book().PlaceOf({0}, {node});
    const uint64_t key = 1000 * place.shard.value + place.row.value;
    const int32_t lists = book().DirectoryShard(key).value;
    // One has been removed before, and another has its key.
    shard(lists).List(key, node == 10 ? 11 : node);
    removed.nodes.push_back(node);
    if (node == 10) continue;
    nodes[place.shard.value].insert(node);
    keys[lists].insert(key);
  }
  removed.nodes.push_back(kNumNodes + 3000);  // there is none such
  GraphChanges changes;
  changes.removed_nodes = {removed};
  VICINITY_REQUIRE_OK(Write(changes));
  REQUIRE(written_.refused.size() == 2);
  CHECK(written_.refused[0].what.row == 2);
  CHECK(written_.refused[1].what.row == static_cast<int64_t>(removed.nodes.size()) - 1);
  CHECK(written_.refused[0].why.code() == ErrorCode::kNotFound);
  CHECK(written_.num_applied == kNumNodes / 5 - 1);
  for (int32_t s = 0; s < 3; ++s) {
    std::set<uint64_t> gone_nodes;
    std::set<uint64_t> gone_keys;
    for (const proto::WriteBatch& batch : shard(s).applied()) {
      for (const auto& part : batch.gone_nodes()) {
        gone_nodes.insert(part.nodes().begin(), part.nodes().end());
      }
      for (const auto& part : batch.gone_keys()) {
        gone_keys.insert(part.keys().begin(), part.keys().end());
      }
    }
    CHECK(gone_nodes == nodes[s]);
    CHECK(gone_keys == keys[s]);
  }
}

TEST_CASE_METHOD(WritingTest, "a call does not wait for ever behind another at a shard",
                 "[writes]") {
  options_.give_up_after = std::chrono::nanoseconds(0);
  options_.least_turn = std::chrono::nanoseconds(0);
  MakeWriter();
  shard(1).Hold();
  absl::Status first;
  std::thread other([&] {
    Written written;
    first = writer_->Write(EdgesTo(1, 2), nullptr, &written);
  });
  while (shard(1).sent().empty()) std::this_thread::yield();
  VICINITY_CHECK_CODE(Write(EdgesTo(1, 5)), absl::StatusCode::kDeadlineExceeded);
  CHECK(written_.unsent.size() == 5);
  CHECK(written_.unsure.empty());
  shard(1).LetGo();
  other.join();
  VICINITY_CHECK_OK(first);
  VICINITY_CHECK_OK(Write(EdgesTo(1, 5)));
  CHECK(SourcesOf(shard(1).applied()).size() == 7);
}

class FarWritingTest : public WritingTest {
 public:
  FarWritingTest() : WritingTest(4, /*far=*/true) {}
};

TEST_CASE_METHOD(FarWritingTest, "many threads write at once, and each edge is there once",
                 "[writes]") {
  constexpr int kNumThreads = 4;
  constexpr int kCalls = 25;
  options_.batch_bytes = 100;
  options_.shards_at_once = GENERATE(1, 3);
  for (int s = 0; s < 4; ++s) shard(s).set_num_nodes(1'000'000);
  MakeWriter();
  for (int s = 0; s < 4; ++s) {
    shard(s).AddFates({{}, {Away(), true}, {}, {Away(), false}, {}, {Away(), true}});
  }
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int t = 0; t < kNumThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int call = 0; call < kCalls; ++call) {
        std::vector<int64_t> sources;
        std::vector<int64_t> targets;
        for (int64_t i = 0; i < 20; ++i) {
          sources.push_back(t * 100000 + call * 100 + i);
          targets.push_back((t + i * 3) % kNumNodes);
        }
        GraphChanges changes = Edges(sources, targets);
        Written written;
        if (!writer_->Write(changes, nullptr, &written).ok() || written.num_applied != 20) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  std::multiset<uint64_t> there;
  for (int s = 0; s < 4; ++s) {
    const std::vector<uint64_t> sources = SourcesOf(shard(s).applied());
    there.insert(sources.begin(), sources.end());
    uint64_t last = 0;
    for (const proto::WriteSession& session : shard(s).sent()) {
      CHECK(session.sequence() >= last);
      CHECK(session.sequence() <= last + 1);
      last = session.sequence();
    }
  }
  CHECK(there.size() == kNumThreads * kCalls * 20);
  CHECK(std::set<uint64_t>(there.begin(), there.end()).size() == there.size());
}

}  // namespace
}  // namespace vicinity

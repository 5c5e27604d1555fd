#include "client/replicas/replicated_shard.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/call_context.h"
#include "client/shards/cancellation.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "client/shards/thread_cancellation.h"
#include "partition/overlay/live_values.h"
#include "proto/common/ids.h"
#include "tests/client/pattern_shard.h"
#include "tests/client/simulated_replicas.h"
#include "tests/testing/graphs/simulated_shard.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/virtual_timer.h"

namespace vicinity {
namespace {

using std::chrono::seconds;
using testing::Fate;

// Every third call fails, wherever it goes.
class ReplicatedShardTest {
 protected:
  ReplicatedShardTest() {
    testing::ReplicaWorld world;
    world.fates = [this](int, uint64_t question) {
      Fate fate;
      if (question == testing::ReplicaWorld::kProbe) return fate;
      fate.lost = silent_;
      if (++calls_ % 3 == 0) {
        fate.status = absl::DataLossError("damaged");
      }
      return fate;
    };
    world_ = std::make_unique<testing::SimulatedReplicas>(world, &timer_);
    shard_ = world_->Replicate(ShardId{1}, &near_, {0, 1});
  }
  Done Finish() {
    over_.reset();
    return [this](const absl::Status& status) { over_ = status; };
  }
  void MustBeOver() {
    REQUIRE(timer_.RunUntil([this] { return over_.has_value(); }, timer_.Now() + seconds(60)));
    VICINITY_REQUIRE_OK(*over_);
  }

  testing::VirtualTimer timer_;
  testing::PatternShard near_;
  int calls_ = 0;
  bool silent_ = false;  // nothing is answered any more
  std::unique_ptr<testing::SimulatedReplicas> world_;
  std::unique_ptr<ShardAccess> shard_;
  std::optional<absl::Status> over_;
};

TEST_CASE_METHOD(ReplicatedShardTest, "every question gets its answer through failures",
                 "[replicated_shard]") {
  CHECK(shard_->remote());
  const std::vector<uint64_t> asked = {8, 6};
  const std::vector<int64_t> positions = {1, 0};
  for (int i = 0; i < 6; ++i) {
    ShardHop hop;
    hop.relations = {{EdgeTypeId{1}, {1}, asked}};
    std::vector<Neighbors> out(1);
    hop.out = absl::MakeSpan(out);
    shard_->Ask(hop, nullptr, Finish());
    MustBeOver();
    CHECK(out[0].sources == std::vector<int64_t>{9, 7});

    std::vector<std::string> names(2);
    shard_->Ask(ShardRagged{NodeTypeId{0}, kNamesColumn, asked, positions, names.data()}, nullptr,
                Finish());
    MustBeOver();
    CHECK(names == std::vector<std::string>{"n6", "n8"});

    std::vector<int64_t> nodes(2);
    shard_->Ask(ShardKeys{NodeTypeId{0}, asked, positions, nodes.data()}, nullptr, Finish());
    MustBeOver();
    CHECK(nodes == std::vector<int64_t>{12, 16});

    RankedNodes ranked;
    ShardRanking ranking;
    ranking.count = 4;
    ranking.out = &ranked;
    shard_->Ask(ranking, nullptr, Finish());
    MustBeOver();
    CHECK(ranked.nodes == std::vector<int64_t>{0, 1, 2, 3});
  }
  CHECK(world_->traffic().retries > 0);
}

TEST_CASE_METHOD(ReplicatedShardTest, "much is asked for in parts, each tried again alone",
                 "[replicated_shard]") {
  ShardRows rows;
  rows.row_bytes = int64_t{1} << 20;
  rows.first = 5;
  rows.count = 100;
  std::vector<char> out(rows.row_bytes * rows.count);
  rows.out = out.data();
  shard_->Ask(rows, nullptr, Finish());
  MustBeOver();
  CHECK(world_->traffic().shard_calls == 4);  // of 32 rows at most
  CHECK(world_->traffic().attempts == 5);
  for (int64_t i = 0; i < rows.count; ++i) {
    REQUIRE(out[i * rows.row_bytes + 77] == testing::PatternShard::ByteOf(5 + i, 77));
  }
}

TEST_CASE_METHOD(ReplicatedShardTest,
                 "a question without a cancellation of its own ends with that of its thread",
                 "[replicated_shard]") {
  silent_ = true;
  const std::vector<uint64_t> asked = {8, 6};
  const std::vector<int64_t> positions = {1, 0};
  std::vector<std::string> names(2);
  const ShardRagged question{NodeTypeId{0}, kNamesColumn, asked, positions, names.data()};
  const auto of_thread = std::make_shared<Cancellation>();
  SetThreadCancellation(of_thread);
  const bool has_own = GENERATE(false, true);
  Cancellation own;
  shard_->Ask(question, has_own ? &own : nullptr, Finish());
  const auto soon_over = [this] {
    return timer_.RunUntil([this] { return over_.has_value(); },
                           timer_.Now() + std::chrono::milliseconds(10));
  };
  CHECK_FALSE(soon_over());
  of_thread->Cancel();
  CHECK(soon_over() == !has_own);
  own.Cancel();
  REQUIRE(soon_over());
  VICINITY_CHECK_CODE(*over_, absl::StatusCode::kCancelled);
  SetThreadCancellation(nullptr);
}

// A change log: its end, and the first version of the last term; all before are of term 1.
struct Log {
  LogPosition end;
  uint64_t first_of_term = 1;

  uint64_t TermOf(uint64_t version) const { return version < first_of_term ? 1 : end.term; }
};

// A server that answers what its log has, and tells at which version.
class ServerWithLog final : public AnswersAlike<ServerWithLog> {
 public:
  ServerWithLog(const Log* log, std::vector<LogPosition>* answers) : log_(log), answers_(answers) {}
  bool remote() const override { return true; }
  template <typename Request>
  void AskAny(const Request& /*request*/, const CallContext& context, const Done& done) {
    const ReadAt& at = context.at;
    const bool has = at.version <= log_->end.version;
    const bool is_same = at.term.value_or(log_->TermOf(at.version)) == log_->TermOf(at.version);
    if (!has || !is_same) return done(absl::OutOfRangeError("another version"));
    context.Saw(log_->end);
    answers_->push_back(log_->end);
    done(absl::OkStatus());
  }

 private:
  const Log* const log_;
  std::vector<LogPosition>* const answers_;
};

TEST_CASE("of logs that have gone apart, the one that was seen is read on", "[replicated_shard]") {
  testing::VirtualTimer timer;
  testing::ReplicaWorld world;
  world.hedge = false;
  world.fates = [](int, uint64_t) { return Fate(); };
  testing::SimulatedReplicas simulated(world, &timer);
  std::vector<Log> logs = {{{5, 1}}, {{5, 1}}};
  std::vector<LogPosition> answers;
  std::vector<ShardReplica> replicas;
  for (int s = 0; s < 2; ++s) {
    replicas.push_back({&simulated.server(s), std::make_unique<ServerWithLog>(&logs[s], &answers)});
  }
  const auto shard = MakeReplicatedShard(ShardId{1}, std::move(replicas), 2, simulated.tools());
  const auto read = [&] {
    answers.clear();
    for (int i = 0; i < 8; ++i) {
      ShardVersion version;
      std::optional<absl::Status> over;
      shard->Ask(ShardBarrier{&version}, nullptr,
                 [&](const absl::Status& status) { over = status; });
      REQUIRE(timer.RunUntil([&] { return over.has_value(); }, timer.Now() + seconds(120)));
      VICINITY_REQUIRE_OK(*over);
    }
    return answers;
  };
  CHECK(read() == std::vector<LogPosition>(8, {5, 1}));
  logs[1] = {{6, 3}, 5};  // where version 5 was lost, and given again
  CHECK(read() == std::vector<LogPosition>(8, {5, 1}));
  logs[0] = {{6, 3}, 5};  // the lost one is nowhere any more: what there is is read
  CHECK(read() == std::vector<LogPosition>(8, {6, 3}));
  logs[0] = {{9, 1}};  // longer, by a writer that is not any more
  CHECK(read() == std::vector<LogPosition>(8, {6, 3}));
}

}  // namespace
}  // namespace vicinity

#include "client/cli/commands/live/promotion.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "proto/admin.pb.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"
#include "proto/service.pb.h"
#include "tests/server/replication/replica_group.h"
#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

using testing::ReplicaGroup;

constexpr ShardId kShard = {0};
constexpr auto kLong = absl::Seconds(30);
constexpr auto kShort = absl::Milliseconds(20);

PromotionOptions OptionsOf(const ReplicaGroup& group) {
  PromotionOptions options;
  options.servers = group.names();
  options.look_every = absl::Milliseconds(1);
  options.catch_up = absl::Seconds(30);
  return options;
}

absl::StatusOr<Promotion> PromoteIn(ReplicaGroup* group, const PromotionOptions& options) {
  return Promote(kShard, options, [group](size_t server, const proto::AppointRequest& request) {
    return group->Appoint(static_cast<int>(server), request);
  });
}

// Until the keepers have asked each other.
absl::StatusOr<AppliedBatch> ApplySoon(ReplicaGroup* group, int server, const std::string& session,
                                       uint64_t sequence, Durability durability) {
  absl::StatusOr<AppliedBatch> applied;
  for (int i = 0; i < 5000; ++i) {
    applied = group->Apply(server, session, sequence, sequence, durability, kLong);
    if (!absl::IsUnimplemented(applied.status())) return applied;
    absl::SleepFor(absl::Milliseconds(2));
  }
  return applied;
}

// Of a new cluster: until then nobody knows whether a server lacks what another has.
void AwaitMet(const ReplicaGroup& group) {
  for (int server = 0; server < group.size(); ++server) {
    for (int i = 0; i < 5000 && group.shard(server)->catching_up(); ++i) {
      absl::SleepFor(absl::Milliseconds(2));
    }
    CHECK_FALSE(group.shard(server)->catching_up());
  }
}

TEST_CASE("when a writer dies, the server that has most writes, and nothing replicated is lost",
          "[promotion]") {
  ReplicaGroup group(3);
  for (uint64_t n = 1; n <= 3; ++n) {
    VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", n, Durability::kReplicated).status());
  }
  group.AwaitSame();
  group.Cut(0, 1, true);
  VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", 4, Durability::kReplicated).status());
  group.Stop(0);
  group.Cut(0, 1, false);
  PromotionOptions options = OptionsOf(group);
  options.from = "a";
  VICINITY_ASSERT_OK_AND_ASSIGN(const Promotion done, PromoteIn(&group, options));
  CHECK(done.concerned);
  CHECK(done.before == WriterTerm{0, "a"});
  CHECK(done.after.writer == "c");
  CHECK(done.position.version == 4);
  CHECK(done.unreached == std::vector<std::string>{"a"});
  VICINITY_ASSERT_OK_AND_ASSIGN(const AppliedBatch known,
                                ApplySoon(&group, 2, "s", 4, Durability::kReplicated));
  CHECK(known.repeated);
  group.Start(0);
  CHECK(group.AwaitSame() == 2);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Promotion again, PromoteIn(&group, options));
  CHECK_FALSE(again.concerned);  // it writes nothing any more
  CHECK(group.shard(2)->writer() == done.after);
}

TEST_CASE("the next writer gets what it lacks first, while nobody writes", "[promotion]") {
  ReplicaGroup group(3);
  for (uint64_t n = 1; n <= 3; ++n) {
    VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", n, Durability::kReplicated).status());
  }
  group.AwaitSame();
  group.Stop(1);
  for (uint64_t n = 4; n <= 200; ++n) {
    VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", n, Durability::kSync).status());
  }
  group.Start(1);
  group.Cut(0, 1, true);  // it gets them by way of c alone, or when promoted from it
  PromotionOptions options = OptionsOf(group);
  options.to = "b";
  SECTION("by another than the writer") {
    VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", 201, Durability::kReplicated).status());
    group.Stop(0);
    VICINITY_ASSERT_OK_AND_ASSIGN(const Promotion done, PromoteIn(&group, options));
    CHECK(done.after.writer == "b");
    CHECK(done.position.version == 201);
    CHECK(group.AwaitSame() == 1);
  }
  SECTION("or it is told what it waits for, and nobody writes") {
    group.Cut(1, 2, true);
    options.catch_up = absl::Milliseconds(50);
    const absl::Status late = PromoteIn(&group, options).status();
    VICINITY_CHECK_CODE(late, absl::StatusCode::kDeadlineExceeded);
    CHECK_THAT(std::string(late.message()),
               Catch::Contains("takes no batches now") && Catch::Contains("--catch-up"));
    for (int server = 0; server < 3; ++server) {
      VICINITY_CHECK_CODE(group.shard(server)->refusal(), absl::StatusCode::kUnimplemented);
    }
    group.Cut(0, 1, false);
    group.Cut(1, 2, false);
    options.catch_up = kLong;
    VICINITY_CHECK_OK(PromoteIn(&group, options).status());
    CHECK(group.AwaitSame() == 1);
  }
}

TEST_CASE("too few servers promote nobody, unless told", "[promotion]") {
  ReplicaGroup group(3);
  VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", 1, Durability::kReplicated).status());
  group.AwaitSame();
  group.Stop(0);
  group.Stop(2);
  PromotionOptions options = OptionsOf(group);
  const absl::Status few = PromoteIn(&group, options).status();
  VICINITY_CHECK_CODE(few, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(few.message()),
             Catch::Contains("1 of its 3") && Catch::Contains("--force") && Catch::Contains("a: "));
  CHECK(group.shard(1)->writer() == WriterTerm{0, "a"});
  SECTION("a server with a new disk does not count") {
    group.Wipe(2);
    group.Start(2);
    VICINITY_CHECK_CODE(PromoteIn(&group, options).status(), absl::StatusCode::kUnavailable);
  }
  SECTION("with force") {
    options.force = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(const Promotion done, PromoteIn(&group, options));
    CHECK(done.after.writer == "b");
    VICINITY_CHECK_OK(ApplySoon(&group, 1, "s", 2, Durability::kSync).status());
  }
}

// Changes of the log behind `after`, as its writer in term 0 sends them.
proto::ReplicateRequest ChangesOf(const std::vector<proto::Change>& log, uint64_t after,
                                  uint64_t last) {
  proto::ReplicateRequest request;
  request.mutable_writer()->set_writer("a");
  request.set_after(after);
  request.set_last(log.size());
  for (uint64_t version = after + 1; version <= last; ++version) {
    *request.add_changes() = log[version - 1];
  }
  return request;
}

TEST_CASE("a server with a new disk counts once it has what the writer had, and not before",
          "[promotion]") {
  ReplicaGroup group(3);
  for (uint64_t n = 1; n <= 3; ++n) {
    VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", n, Durability::kReplicated).status());
  }
  group.AwaitSame();
  group.Cut(0, 2, true);
  for (uint64_t n = 4; n <= 5; ++n) {  // on a and b alone
    VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", n, Durability::kReplicated).status());
  }
  std::vector<proto::Change> log;
  for (uint64_t version = 1; version <= 5; ++version) {
    VICINITY_ASSERT_OK_AND_ASSIGN(log.emplace_back(), group.shard(0)->ReadChange(version));
  }
  group.Stop(1);
  group.Wipe(1);
  group.Cut(0, 1, true);
  group.Start(1);
  group.Stop(0);
  VICINITY_REQUIRE_OK(group.keeper(1).Take(ChangesOf(log, 0, 1)).status());
  CHECK(group.shard(1)->logged() == 1);
  if (GENERATE(false, true)) {
    group.Stop(1);
    group.Start(1);
  }
  const PromotionOptions options = OptionsOf(group);
  const absl::Status few = PromoteIn(&group, options).status();
  VICINITY_CHECK_CODE(few, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(few.message()), Catch::Contains("1 of its 3"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ReplicateReply some,
                                group.keeper(1).Take(ChangesOf(log, 1, 3)));
  CHECK(some.catching_up());
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ReplicateReply all,
                                group.keeper(1).Take(ChangesOf(log, 3, 5)));
  CHECK_FALSE(all.catching_up());
  VICINITY_ASSERT_OK_AND_ASSIGN(const Promotion done, PromoteIn(&group, options));
  CHECK(done.after.writer == "b");
  CHECK(done.position.version == 5);
  VICINITY_ASSERT_OK_AND_ASSIGN(const AppliedBatch known,
                                ApplySoon(&group, 1, "s", 5, Durability::kReplicated));
  CHECK(known.repeated);
}

TEST_CASE("a new cluster's servers all count as soon as they have met", "[promotion]") {
  ReplicaGroup group(3);
  VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", 1, Durability::kReplicated).status());
  group.AwaitSame();
  AwaitMet(group);
}

// As one that was added to a shard that another had alone.
TEST_CASE("a server that has never met the one with the changes is not promoted", "[promotion]") {
  ReplicaGroup group(2);
  group.Stop(1);
  group.Wipe(1);
  group.Cut(0, 1, true);
  VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", 1, Durability::kSync).status());
  group.Start(1);
  group.Stop(0);
  PromotionOptions options = OptionsOf(group);
  options.to = "b";
  const absl::Status few = PromoteIn(&group, options).status();
  VICINITY_CHECK_CODE(few, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(few.message()),
             Catch::Contains("0 of its 2") && Catch::Contains("--force"));
  CHECK(group.shard(1)->writer() == WriterTerm{0, "a"});
  group.Start(0);
  group.Cut(0, 1, false);
  CHECK(group.AwaitSame() == 0);
  AwaitMet(group);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Promotion done, PromoteIn(&group, options));
  CHECK(done.position.version >= 1);
}

TEST_CASE("what a promotion is asked must fit the servers", "[promotion]") {
  ReplicaGroup group(2);
  AwaitMet(group);
  PromotionOptions options = OptionsOf(group);
  options.to = "z";
  VICINITY_CHECK_CODE(PromoteIn(&group, options).status(), absl::StatusCode::kNotFound);
  options = OptionsOf(group);
  options.from = "b";
  VICINITY_ASSERT_OK_AND_ASSIGN(const Promotion none, PromoteIn(&group, options));
  CHECK_FALSE(none.concerned);
  options.from = "a";
  options.dry_run = true;
  VICINITY_ASSERT_OK_AND_ASSIGN(const Promotion dry, PromoteIn(&group, options));
  CHECK(dry.after == WriterTerm{0, "b"});
  CHECK(group.shard(1)->writer() == WriterTerm{0, "a"});
  options.dry_run = false;
  group.Stop(1);
  const absl::Status only = PromoteIn(&group, options).status();
  VICINITY_CHECK_CODE(only, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(only.message()), Catch::Contains("only \"a\" answers"));
  CHECK(group.shard(0)->writer() == WriterTerm{0, "a"});  // who goes on
  options.from = "";
  VICINITY_CHECK_OK(PromoteIn(&group, options).status());
  VICINITY_CHECK_OK(ApplySoon(&group, 0, "s", 1, Durability::kSync).status());
}

TEST_CASE("servers of different datasets promote nobody", "[promotion]") {
  ReplicaGroup group(2);
  const absl::Status status =
      Promote(kShard, OptionsOf(group), [&](size_t server, const proto::AppointRequest& request) {
        auto reply = group.Appoint(static_cast<int>(server), request);
        if (server == 1) reply->set_fingerprint(reply->fingerprint() + 1);
        return reply;
      }).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()), Catch::Contains("different datasets"));
}

TEST_CASE("two promotions that do not see each other's servers make no two writers of one term",
          "[promotion]") {
  ReplicaGroup group(2);
  AwaitMet(group);
  group.Cut(0, 1, true);
  std::vector<WriterTerm> writers;
  for (const size_t reached : {size_t{0}, size_t{1}}) {
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const Promotion done,
        Promote(kShard, OptionsOf(group),
                [&](size_t server,
                    const proto::AppointRequest& request) -> absl::StatusOr<proto::AppointReply> {
                  if (server != reached) return absl::UnavailableError("cut");
                  return group.Appoint(static_cast<int>(server), request);
                }));
    writers.push_back(done.after);
  }
  CHECK(writers[0].writer == "a");
  CHECK(writers[1].writer == "b");
  CHECK(writers[0].term != writers[1].term);
  VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", 1, Durability::kSync).status());
  VICINITY_REQUIRE_OK(ApplySoon(&group, 1, "t", 1, Durability::kSync).status());
  group.Cut(0, 1, false);
  const int writer = group.AwaitSame();
  CHECK(ReplicaGroup::NameOf(writer) == (writers[0].term > writers[1].term ? "a" : "b"));
  CHECK(group.DifferenceOf(0, 1) == 0);
}

// Servers that stop and start, links that break, promotions of whoever is reached, and clients that
// write: what was acknowledged as replicated is known to whoever writes at the end, and all
// servers have the same.
class Simulation {
 public:
  Simulation(int servers, uint64_t seed) : group_(servers), random_(seed) {}

  void Step() {
    switch (Below(16)) {
      case 0:
        if (const int server = Any(); !group_.is_up(server)) {
          group_.Start(server);
        } else if (Below(2) == 0) {
          group_.Stop(server);
        }
        break;
      case 1:
      case 2:
        if (const int one = Any(), other = Any(); one != other) {
          group_.Cut(one, other, Below(3) == 0);
        }
        break;
      case 3:
      case 4:
        Promote();
        break;
      default:
        Write(Below(3));
    }
  }

  void End() {
    for (int one = 0; one < group_.size(); ++one) {
      if (!group_.is_up(one)) group_.Start(one);
      for (int other = 0; other < one; ++other) group_.Cut(one, other, false);
    }
    VICINITY_REQUIRE_OK(PromoteIn(&group_, OptionsOf(group_)).status());
    writer_ = group_.AwaitSame();
    for (int server = 1; server < group_.size(); ++server) {
      CHECK(group_.DifferenceOf(0, server) == 0);
    }
  }

  // Of batches that were acknowledged, those that the last writer does not know.
  int NumLost() {
    int lost = 0;
    for (const auto& [session, sequences] : acknowledged_) {
      for (const auto& [sequence, n] : sequences) {
        const auto again = group_.Apply(writer_, session, sequence, n, Durability::kSync, kLong);
        if (!again.ok() || !again->repeated) ++lost;
      }
    }
    return lost;
  }
  int num_promoted() const { return promoted_; }
  size_t num_acknowledged() const { return count_; }

 private:
  struct Client {
    std::string session;
    uint64_t sequence = 1;
    uint64_t n = 1;
  };

  uint64_t Below(uint64_t limit) { return random_() % limit; }
  int Any() { return static_cast<int>(Below(group_.size())); }

  void Promote() {
    PromotionOptions options = OptionsOf(group_);
    options.catch_up = absl::Milliseconds(200);
    const uint64_t unreached = Below(group_.size() + 1);
    const auto done = cli::Promote(
        kShard, options,
        [&](size_t server,
            const proto::AppointRequest& request) -> absl::StatusOr<proto::AppointReply> {
          if (server == unreached) return absl::UnavailableError("not reached");
          return group_.Appoint(static_cast<int>(server), request);
        });
    if (done.ok()) ++promoted_;
  }

  // As a Writer does: to whichever server takes it, the same again until it is acknowledged.
  void Write(uint64_t number) {
    Client& client = clients_[number];
    if (client.session.empty()) client.session = absl::StrCat("client ", number);
    for (int server = 0; server < group_.size(); ++server) {
      const auto applied = group_.Apply(server, client.session, client.sequence, client.n,
                                        Durability::kReplicated, kShort);
      if (!applied.ok()) continue;  // also OutOfRange of one that was cut off, and writes still
      acknowledged_[client.session][client.sequence] = client.n;
      ++count_;
      ++client.sequence;
      client.n += 3;
      return;
    }
  }

  ReplicaGroup group_;
  std::mt19937_64 random_;
  std::map<uint64_t, Client> clients_;
  std::map<std::string, std::map<uint64_t, uint64_t>> acknowledged_;
  size_t count_ = 0;
  int promoted_ = 0;
  int writer_ = 0;
};

TEST_CASE("whatever stops, breaks and is promoted, nothing replicated is lost", "[promotion]") {
  size_t acknowledged = 0;
  int promoted = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    Simulation simulation(seed % 2 == 0 ? 2 : 3, seed);
    for (int step = 0; step < 150; ++step) simulation.Step();
    simulation.End();
    CHECK(simulation.NumLost() == 0);
    acknowledged += simulation.num_acknowledged();
    promoted += simulation.num_promoted();
  }
  CHECK(acknowledged > 200);
  CHECK(promoted > 10);
}

TEST_CASE("a promotion by force of a server that lacks something loses it, and it is seen",
          "[promotion]") {
  ReplicaGroup group(3);
  VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", 1, Durability::kReplicated).status());
  group.AwaitSame();
  group.Cut(0, 2, true);
  VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", 2, Durability::kReplicated).status());
  group.Stop(0);
  group.Stop(1);
  PromotionOptions options = OptionsOf(group);
  options.force = true;
  VICINITY_REQUIRE_OK(PromoteIn(&group, options).status());
  VICINITY_ASSERT_OK_AND_ASSIGN(const AppliedBatch lost,
                                ApplySoon(&group, 2, "s", 2, Durability::kSync));
  CHECK_FALSE(lost.repeated);  // it was new there
  group.Cut(0, 2, false);
  group.Start(0);
  group.Start(1);
  CHECK(group.AwaitSame() == 2);
  CHECK(group.DifferenceOf(2, 0) == 0);
  CHECK(group.DifferenceOf(2, 1) == 0);
}

TEST_CASE("what was restored is of terms before the one that begins", "[promotion]") {
  ReplicaGroup group(3);
  VICINITY_REQUIRE_OK(ApplySoon(&group, 0, "s", 1, Durability::kReplicated).status());
  group.AwaitSame();
  PromotionOptions options = OptionsOf(group);
  options.to = "b";
  VICINITY_ASSERT_OK_AND_ASSIGN(const Promotion first, PromoteIn(&group, options));
  VICINITY_REQUIRE_OK(ApplySoon(&group, 1, "s", 2, Durability::kReplicated).status());
  group.AwaitSame();
  const std::vector<proto::Change> log = group.LogOf(0);
  for (int server = 0; server < 3; ++server) group.Stop(server);
  for (int server = 0; server < 3; ++server) group.Restore(server, log);
  for (int server = 0; server < 3; ++server) group.Start(server);
  options.to = "c";
  VICINITY_ASSERT_OK_AND_ASSIGN(const Promotion done, PromoteIn(&group, options));
  CHECK(done.after.term > first.after.term);
  CHECK(done.position.version == log.size());
  VICINITY_REQUIRE_OK(ApplySoon(&group, 2, "s", 3, Durability::kReplicated).status());
  CHECK(group.AwaitSame() == 2);
  CHECK(group.DifferenceOf(0, 2) == 0);
  CHECK(group.DifferenceOf(1, 2) == 0);
}

}  // namespace
}  // namespace vicinity::cli

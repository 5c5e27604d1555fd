#include "server/replication/shard_keeper.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "proto/service.pb.h"
#include "tests/server/replication/replica_group.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::ReplicaGroup;

constexpr auto kLong = absl::Seconds(30);
constexpr auto kShort = absl::Milliseconds(30);

proto::AppointRequest AppointmentOf(uint64_t term, const std::string& writer) {
  proto::AppointRequest request;
  request.mutable_writer()->set_term(term);
  request.mutable_writer()->set_writer(writer);
  return request;
}

// On all that are up.
void AppointAll(ReplicaGroup* group, uint64_t term, const std::string& writer) {
  for (int server = 0; server < group->size(); ++server) {
    if (!group->is_up(server)) continue;
    VICINITY_REQUIRE_OK(group->Appoint(server, AppointmentOf(term, writer)).status());
  }
}

void AwaitWriter(const ReplicaGroup& group, int server) {
  for (int i = 0; i < 5000 && !group.shard(server)->refusal().ok(); ++i) {
    absl::SleepFor(absl::Milliseconds(2));
  }
  VICINITY_REQUIRE_OK(group.shard(server)->refusal());
}

// Waits until what the server says of itself has the text.
void AwaitRefusal(const ReplicaGroup& group, int server, const std::string& text) {
  std::string said;
  for (int i = 0; i < 5000; ++i) {
    said = std::string(group.shard(server)->refusal().message());
    if (said.find(text) != std::string::npos) return;
    absl::SleepFor(absl::Milliseconds(2));
  }
  FAIL("it says \"" << said << "\", not \"" << text << '"');
}

TEST_CASE("what one server of a shard is written, the others have, byte for byte", "[keeper]") {
  ReplicaGroup group(3);
  AwaitWriter(group, 0);
  for (uint64_t n = 1; n <= 300; ++n) {
    VICINITY_REQUIRE_OK(group.Apply(0, "s", n, n, Durability::kBuffered, kLong).status());
  }
  CHECK(group.AwaitSame() == 0);
  CHECK(group.shard(2)->version() == 300);
  CHECK(group.DifferenceOf(0, 1) == 0);
  CHECK(group.DifferenceOf(0, 2) == 0);
  const absl::Status refused = group.Apply(1, "s", 301, 301, Durability::kSync, kLong).status();
  VICINITY_CHECK_CODE(refused, absl::StatusCode::kUnimplemented);
  CHECK_THAT(std::string(refused.message()), Catch::Contains("written by server \"a\""));
}

TEST_CASE("replicated is what more than half of the servers have on disk, and waits for it",
          "[keeper]") {
  ReplicaGroup group(3);
  AwaitWriter(group, 0);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kReplicated, kLong).status());
  group.Cut(0, 1, true);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 2, 2, Durability::kReplicated, kLong).status());
  CHECK(group.shard(2)->version() == 2);
  group.Cut(0, 2, true);
  const absl::Status waits = group.Apply(0, "s", 3, 3, Durability::kReplicated, kShort).status();
  VICINITY_CHECK_CODE(waits, absl::StatusCode::kDeadlineExceeded);
  CHECK(group.shard(0)->version() == 2);  // nobody reads what may be lost with one server
  CHECK(group.shard(0)->logged() == 3);
  CHECK_THAT(std::string(waits.message()),
             Catch::Contains("version 3") && Catch::Contains("3 servers"));
  group.Cut(0, 1, false);
  VICINITY_ASSERT_OK_AND_ASSIGN(const AppliedBatch again,
                                group.Apply(0, "s", 3, 3, Durability::kReplicated, kLong));
  CHECK(again.repeated);
  CHECK(group.shard(0)->version() == 3);
  CHECK(group.shard(1)->version() == 3);
  CHECK(group.shard(2)->version() == 2);
  group.Cut(0, 1, true);
  VICINITY_CHECK_CODE(group.Apply(0, "s", 4, 4, Durability::kReplicated, kShort).status(),
                      absl::StatusCode::kDeadlineExceeded);
  VICINITY_CHECK_OK(group.Apply(0, "t", 1, 5, Durability::kSync, kLong).status());
  CHECK(group.shard(0)->version() == 5);  // with all before
}

TEST_CASE("of five servers none shows a replicated batch that two alone have", "[keeper]") {
  ReplicaGroup group(5);
  AwaitWriter(group, 0);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kReplicated, kLong).status());
  CHECK(group.AwaitSame() == 0);
  for (int other = 2; other < 5; ++other) group.Cut(0, other, true);
  VICINITY_CHECK_CODE(group.Apply(0, "s", 2, 2, Durability::kReplicated, kShort).status(),
                      absl::StatusCode::kDeadlineExceeded);
  for (int i = 0; i < 5000 && group.shard(1)->logged() < 2; ++i) {
    absl::SleepFor(absl::Milliseconds(2));
  }
  CHECK(group.shard(1)->logged() == 2);
  CHECK(group.shard(0)->version() == 1);
  CHECK(group.shard(1)->version() == 1);
  SECTION("also after a start") {
    group.Stop(1);
    group.Start(1);
    absl::SleepFor(10 * kShort);  // the writer asks every 5 ms
    CHECK(group.shard(1)->logged() == 2);
    CHECK(group.shard(1)->version() == 1);
  }
  SECTION("until a third has it") {
    group.Cut(0, 2, false);
    for (int i = 0; i < 5000 && group.shard(1)->version() < 2; ++i) {
      absl::SleepFor(absl::Milliseconds(2));
    }
    CHECK(group.shard(1)->version() == 2);
    group.Cut(0, 1, true);
    group.Stop(1);
    group.Start(1);
    CHECK(group.shard(1)->version() == 2);  // what was seen is
  }
  SECTION("and what its readers see of the others' it shows with them") {
    VICINITY_REQUIRE_OK(group.Apply(0, "t", 1, 3, Durability::kSync, kLong).status());
    for (int i = 0; i < 5000 && group.shard(1)->version() < 3; ++i) {
      absl::SleepFor(absl::Milliseconds(2));
    }
    CHECK(group.shard(1)->version() == 3);
  }
}

TEST_CASE("a server that was away gets what it lacks, and one with a new disk gets all",
          "[keeper]") {
  ReplicaGroup group(2);
  AwaitWriter(group, 0);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kSync, kLong).status());
  CHECK(group.AwaitSame() == 0);
  group.Stop(1);
  for (uint64_t n = 2; n <= 20; ++n) {
    VICINITY_REQUIRE_OK(group.Apply(0, "s", n, n, Durability::kSync, kLong).status());
  }
  const bool new_disk = GENERATE(false, true);
  if (new_disk) group.Wipe(1);
  group.Start(1);
  CHECK(group.AwaitSame() == 0);
  CHECK(group.shard(1)->version() == 20);
  CHECK(group.DifferenceOf(0, 1) == 0);
}

TEST_CASE("a writer that was cut off gives way to a later term, and what it alone has is set aside",
          "[keeper]") {
  ReplicaGroup group(3);
  AwaitWriter(group, 0);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kReplicated, kLong).status());
  group.AwaitSame();
  group.Cut(0, 1, true);
  group.Cut(0, 2, true);
  for (uint64_t n = 2; n <= 4; ++n) {  // nobody else will ever have them
    VICINITY_REQUIRE_OK(group.Apply(0, "s", n, n, Durability::kSync, kLong).status());
  }
  VICINITY_REQUIRE_OK(group.Appoint(1, AppointmentOf(1, "b")).status());
  VICINITY_REQUIRE_OK(group.Appoint(2, AppointmentOf(1, "b")).status());
  AwaitWriter(group, 1);
  for (uint64_t n = 5; n <= 6; ++n) {
    VICINITY_REQUIRE_OK(group.Apply(1, "t", n - 4, n, Durability::kReplicated, kLong).status());
  }
  group.Cut(0, 1, false);
  group.Cut(0, 2, false);
  CHECK(group.AwaitSame() == 1);
  CHECK(group.shard(0)->version() == 4);  // 1, the empty one of the term, 5 and 6
  CHECK(group.shard(0)->writer() == WriterTerm{1, "b"});
  CHECK(group.DifferenceOf(0, 1) == 0);
  CHECK(group.DifferenceOf(0, 2) == 0);
  CHECK(std::filesystem::exists(group.FolderOf(0) + "/shard-00000.aside-1"));
  CHECK_FALSE(std::filesystem::exists(group.FolderOf(1) + "/shard-00000.aside-1"));
}

// Waiting until it is asked again would take a second, and here a minute.
TEST_CASE("a copy that is no beginning of its writer's, and no shorter, starts over at once",
          "[keeper]") {
  const uint64_t num_lost = GENERATE(1, 3);  // as long as the writer's, and longer
  CAPTURE(num_lost);
  ReplicaGroup group(2, absl::Minutes(1));
  AwaitWriter(group, 0);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kReplicated, kLong).status());
  group.Cut(0, 1, true);
  for (uint64_t n = 2; n < 2 + num_lost; ++n) {
    VICINITY_REQUIRE_OK(group.Apply(0, "s", n, n, Durability::kSync, kLong).status());
  }
  group.Stop(0);
  VICINITY_REQUIRE_OK(group.Appoint(1, AppointmentOf(1, "b")).status());
  group.Stop(1);
  group.Start(1);  // whose keeper is the writer's from its first question on
  AwaitWriter(group, 1);
  group.Start(0);
  group.Cut(0, 1, false);
  CHECK(group.AwaitSame() == 1);
  CHECK(group.shard(0)->position() == LogPosition{2, 1});  // the first one, and the term's
  CHECK(group.DifferenceOf(0, 1) == 0);
  CHECK(std::filesystem::exists(group.FolderOf(0) + "/shard-00000.aside-1"));
}

TEST_CASE("a shard that is closed stays so when its log is set aside", "[keeper]") {
  constexpr uint64_t kNext = 0xabc;
  ReplicaGroup group(3);
  AwaitWriter(group, 0);
  group.Cut(0, 1, true);
  group.Cut(0, 2, true);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kSync, kLong).status());
  VICINITY_REQUIRE_OK(group.Appoint(1, AppointmentOf(1, "b")).status());
  VICINITY_REQUIRE_OK(group.Appoint(2, AppointmentOf(1, "b")).status());
  AwaitWriter(group, 1);
  VICINITY_REQUIRE_OK(group.Apply(1, "t", 1, 2, Durability::kReplicated, kLong).status());
  VICINITY_REQUIRE_OK(group.shard(0)->Close(kNext));
  group.Cut(0, 1, false);
  group.Cut(0, 2, false);
  const LogPosition end = group.shard(1)->position();
  const auto is_copied = [&] {
    const auto shard = group.shard(0);
    return shard != nullptr && shard->position() == end;
  };
  for (int i = 0; i < 5000 && !is_copied(); ++i) absl::SleepFor(absl::Milliseconds(2));
  REQUIRE(is_copied());
  CHECK(group.DifferenceOf(0, 1) == 0);
  CHECK(group.shard(0)->closed_for() == kNext);
  group.Stop(0);
  group.Start(0);
  CHECK(group.shard(0)->closed_for() == kNext);
}

// The number of a lost version is given to another one; whoever was pinned to it must not read
// that.
TEST_CASE("a version that was lost and given again is not read for the other", "[keeper]") {
  ReplicaGroup group(3);
  AwaitWriter(group, 0);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kReplicated, kLong).status());
  group.AwaitSame();
  group.Cut(0, 1, true);
  group.Cut(0, 2, true);
  for (uint64_t n = 2; n <= 3; ++n) {  // nobody else will ever have them
    VICINITY_REQUIRE_OK(group.Apply(0, "s", n, n, Durability::kSync, kLong).status());
  }
  const ShardVersion pinned = group.shard(0)->SizesAt(3);
  CHECK(pinned.term == 0);
  VICINITY_CHECK_OK(group.shard(0)->At(pinned.version, pinned.term).status());
  VICINITY_REQUIRE_OK(group.Appoint(1, AppointmentOf(1, "b")).status());
  VICINITY_REQUIRE_OK(group.Appoint(2, AppointmentOf(1, "b")).status());
  AwaitWriter(group, 1);
  VICINITY_REQUIRE_OK(group.Apply(1, "t", 1, 9, Durability::kReplicated, kLong).status());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto other, group.shard(1)->At(pinned.version));
  CHECK(other->term() == 1);  // by its number alone it is read
  const auto check_taken_back = [&](int server) {
    const absl::Status refused = group.shard(server)->At(pinned.version, pinned.term).status();
    VICINITY_CHECK_CODE(refused, absl::StatusCode::kOutOfRange);
    CHECK_THAT(std::string(refused.message()),
               Catch::Contains("version 3 of shard 0 is of term 1 here") &&
                   Catch::Contains("term 0") && Catch::Contains("taken back"));
  };
  check_taken_back(1);
  VICINITY_CHECK_OK(group.shard(1)->At(1, 0).status());  // that one both have
  const absl::Status behind = group.shard(0)->At(3, 1).status();
  VICINITY_CHECK_CODE(behind, absl::StatusCode::kOutOfRange);
  CHECK_THAT(std::string(behind.message()), Catch::Contains("has not heard"));
  group.Cut(0, 1, false);
  group.Cut(0, 2, false);
  CHECK(group.AwaitSame() == 1);
  for (int server = 0; server < 3; ++server) check_taken_back(server);
  VICINITY_CHECK_OK(group.shard(0)->At(3, 1).status());
}

// What a term begins with is durable on its writer alone, so it must not show what comes before it.
TEST_CASE("the beginning of a term shows no batch that most servers do not have yet", "[keeper]") {
  ReplicaGroup group(3);
  AwaitWriter(group, 0);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kReplicated, kLong).status());
  group.AwaitSame();
  group.Cut(0, 1, true);
  group.Cut(0, 2, true);
  VICINITY_CHECK_CODE(group.Apply(0, "s", 2, 2, Durability::kReplicated, kShort).status(),
                      absl::StatusCode::kDeadlineExceeded);
  VICINITY_REQUIRE_OK(group.Appoint(0, AppointmentOf(3, "a")).status());
  AwaitWriter(group, 0);
  CHECK(group.shard(0)->position() == LogPosition{3, 3});
  CHECK(group.shard(0)->version() == 1);
  SECTION("also after a start") {
    group.Stop(0);
    group.Start(0);
    CHECK(group.shard(0)->version() == 1);
  }
  SECTION("until they have it") {}
  group.Cut(0, 1, false);
  group.Cut(0, 2, false);
  CHECK(group.AwaitSame() == 0);
  CHECK(group.shard(0)->version() == 3);
  VICINITY_ASSERT_OK_AND_ASSIGN(const AppliedBatch again,
                                group.Apply(0, "s", 2, 2, Durability::kReplicated, kLong));
  CHECK(again.repeated);
}

TEST_CASE("a writer whose changes are lost takes none and overwrites none", "[keeper]") {
  ReplicaGroup group(2);
  AwaitWriter(group, 0);
  const bool appointed = GENERATE(false, true);
  if (appointed) AppointAll(&group, 2, "a");
  for (uint64_t n = 1; n <= 5; ++n) {
    VICINITY_REQUIRE_OK(group.Apply(0, "s", n, n, Durability::kReplicated, kLong).status());
  }
  const uint64_t last = group.shard(1)->version();
  group.Stop(0);
  group.Wipe(0);
  group.Start(0);
  AwaitRefusal(group, 0, appointed ? "has lost changes" : "which is to have made it");
  const absl::Status refused = group.Apply(0, "s", 6, 6, Durability::kSync, kLong).status();
  VICINITY_CHECK_CODE(refused, absl::StatusCode::kUnimplemented);
  CHECK_THAT(std::string(refused.message()), Catch::Contains("vicinity promote"));
  group.AwaitAsked(1, 5);  // and what it has is not set aside by the next one either
  REQUIRE(group.shard(1) != nullptr);
  CHECK(group.shard(1)->version() == last);
  CHECK_FALSE(std::filesystem::exists(group.FolderOf(1) + "/shard-00000.aside-1"));
  AppointAll(&group, 3, "b");
  CHECK(group.AwaitSame() == 1);
  CHECK(group.shard(0)->version() == last + 1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const AppliedBatch known,
                                group.Apply(1, "s", 5, 5, Durability::kReplicated, kLong));
  CHECK(known.repeated);
}

// As from a server of a version that does not look.
TEST_CASE("nobody sets aside for a writer what that is to have made", "[keeper]") {
  ReplicaGroup group(2);
  AwaitWriter(group, 0);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kReplicated, kLong).status());
  group.Stop(0);
  proto::ReplicateRequest request;
  request.mutable_writer()->set_writer("a");
  request.set_start_over(true);
  VICINITY_CHECK_CODE(group.keeper(1).Take(request), absl::StatusCode::kFailedPrecondition);
  CHECK(group.shard(1)->version() == 1);
}

TEST_CASE("what was restored of a later term is written once somebody is promoted", "[keeper]") {
  ReplicaGroup group(2);
  AwaitWriter(group, 0);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kReplicated, kLong).status());
  AppointAll(&group, 3, "b");
  CHECK(group.AwaitSame() == 1);
  VICINITY_REQUIRE_OK(group.Apply(1, "s", 2, 2, Durability::kReplicated, kLong).status());
  CHECK(group.AwaitSame() == 1);
  const std::vector<proto::Change> log = group.LogOf(0);
  for (const int server : {0, 1}) group.Stop(server);
  for (const int server : {0, 1}) group.Restore(server, log);
  for (const int server : {0, 1}) group.Start(server);
  AwaitRefusal(group, 0, "as after a restore");
  VICINITY_CHECK_CODE(group.Apply(0, "s", 3, 3, Durability::kSync, kLong),
                      absl::StatusCode::kUnimplemented);
  AppointAll(&group, 4, "a");
  CHECK(group.AwaitSame() == 0);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 3, 3, Durability::kReplicated, kLong).status());
  CHECK(group.AwaitSame() == 0);
  CHECK(group.DifferenceOf(0, 1) == 0);
  CHECK(group.shard(1)->version() == log.size() + 2);  // the beginning of a term is one, too
}

TEST_CASE("an answer to a question of an earlier term stops no writer of a later one", "[keeper]") {
  ReplicaGroup group(2, absl::Seconds(1));
  AwaitWriter(group, 0);
  group.During(
      0, 1,
      [&] {
        VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kBuffered, kLong).status());
      },
      [&] { AppointAll(&group, 3, "a"); });
  // What is wrong once would be so until the writer asks again.
  for (int i = 0; i < 250; ++i) {
    const std::string said(group.shard(0)->refusal().message());
    REQUIRE_THAT(said, !Catch::Contains("has lost changes"));
    absl::SleepFor(absl::Milliseconds(2));
  }
  CHECK(group.AwaitSame() == 0);
}

TEST_CASE("who writes is known again after a start, and a lower term is not taken", "[keeper]") {
  ReplicaGroup group(2);
  AppointAll(&group, 5, "b");
  AwaitWriter(group, 1);
  VICINITY_CHECK_CODE(group.Appoint(1, AppointmentOf(4, "a")).status(),
                      absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(group.Appoint(1, AppointmentOf(5, "a")).status(),
                      absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_OK(group.Appoint(1, AppointmentOf(5, "b")).status());  // the same again
  for (int server = 0; server < 2; ++server) {
    group.Stop(server);
    group.Start(server);
    CHECK(group.shard(server)->writer() == WriterTerm{5, "b"});
  }
  CHECK(group.AwaitSame() == 1);
  AppointAll(&group, 6, "");
  const absl::Status nobody = group.Apply(1, "s", 1, 1, Durability::kSync, kLong).status();
  VICINITY_CHECK_CODE(nobody, absl::StatusCode::kUnimplemented);
  CHECK_THAT(std::string(nobody.message()), Catch::Contains("no writer since term 6"));
}

TEST_CASE("a writer that hands over sends what it has, and takes nothing", "[keeper]") {
  ReplicaGroup group(2);
  AwaitWriter(group, 0);
  group.Cut(0, 1, true);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kSync, kLong).status());
  proto::AppointRequest request = AppointmentOf(1, "a");
  request.set_hands_over(true);
  VICINITY_REQUIRE_OK(group.Appoint(1, request).status());
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::AppointReply reply, group.Appoint(0, request));
  CHECK(reply.position().version() == 1);
  VICINITY_CHECK_CODE(group.Apply(0, "s", 2, 2, Durability::kSync, kLong).status(),
                      absl::StatusCode::kUnimplemented);
  group.Cut(0, 1, false);
  for (int i = 0; i < 5000 && group.shard(1)->version() < 1; ++i) {
    absl::SleepFor(absl::Milliseconds(2));
  }
  AppointAll(&group, 2, "b");
  CHECK(group.AwaitSame() == 1);
  VICINITY_CHECK_OK(group.Apply(1, "s", 2, 2, Durability::kReplicated, kLong).status());
}

TEST_CASE("the next writer must have what it is to go on from", "[keeper]") {
  ReplicaGroup group(2);
  proto::AppointRequest request = AppointmentOf(1, "b");
  request.mutable_least()->set_version(7);
  const absl::Status lacks = group.Appoint(1, request).status();
  VICINITY_CHECK_CODE(lacks, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(lacks.message()), Catch::Contains("at version 0") && Catch::Contains("7"));
  CHECK(group.shard(1)->writer() == WriterTerm{0, "a"});
}

TEST_CASE("what does not follow is not repeated", "[keeper]") {
  ReplicaGroup group(2);
  AwaitWriter(group, 0);
  for (uint64_t n = 1; n <= 3; ++n) {
    VICINITY_REQUIRE_OK(group.Apply(0, "s", n, n, Durability::kReplicated, kLong).status());
  }
  group.Stop(0);
  proto::ReplicateRequest request;
  request.mutable_writer()->set_term(0);
  request.mutable_writer()->set_writer("a");
  request.set_after(3);
  VICINITY_ASSERT_OK_AND_ASSIGN(*request.add_changes(), group.shard(1)->ReadChange(3));
  VICINITY_CHECK_CODE(group.keeper(1).Take(request).status(), absl::StatusCode::kInvalidArgument);
  request.set_after(2);  // behind a version that it has: nothing to do
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ReplicateReply reply, group.keeper(1).Take(request));
  CHECK(reply.version() == 3);
  request.mutable_writer()->set_writer("b");
  const absl::Status own = group.keeper(1).Take(request).status();
  VICINITY_CHECK_CODE(own, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(own.message()), Catch::Contains("\"b\" is sent changes"));
}

TEST_CASE("what may yet be taken back is not seen after a start, and what was seen is",
          "[keeper]") {
  ReplicaGroup group(3);
  AwaitWriter(group, 0);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kReplicated, kLong).status());
  group.AwaitSame();
  group.Cut(0, 1, true);
  group.Cut(0, 2, true);
  VICINITY_REQUIRE_OK(group.Apply(0, "t", 1, 7, Durability::kSync, kLong).status());
  VICINITY_CHECK_CODE(group.Apply(0, "s", 2, 2, Durability::kReplicated, kShort).status(),
                      absl::StatusCode::kDeadlineExceeded);
  group.Stop(0);
  group.Start(0);
  CHECK(group.shard(0)->version() == 2);
  CHECK(group.shard(0)->logged() == 3);
  group.Stop(1);
  group.Start(1);
  CHECK(group.shard(1)->version() == 1);
  SECTION("it gets to others") {
    group.Cut(0, 1, false);
    for (int i = 0; i < 5000 && group.shard(0)->version() < 3; ++i) {
      absl::SleepFor(absl::Milliseconds(2));
    }
    CHECK(group.shard(0)->version() == 3);
  }
  SECTION("or another writer has followed meanwhile") {
    VICINITY_REQUIRE_OK(group.Appoint(1, AppointmentOf(1, "b")).status());
    VICINITY_REQUIRE_OK(group.Appoint(2, AppointmentOf(1, "b")).status());
    group.Cut(0, 1, false);
    group.Cut(0, 2, false);
    CHECK(group.AwaitSame() == 1);
    CHECK(group.shard(0)->version() == 2);  // the first one, and the term's
  }
}

TEST_CASE("nobody makes a stranger the writer, or uses terms up", "[keeper]") {
  ReplicaGroup group(2);
  proto::ReplicateRequest request;
  request.set_start_over(true);
  request.mutable_writer()->set_term(7);
  request.mutable_writer()->set_writer("stranger");
  const absl::Status stranger = group.keeper(1).Take(request).status();
  VICINITY_CHECK_CODE(stranger, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(stranger.message()), Catch::Contains("\"stranger\""));
  request.mutable_writer()->set_writer("a");
  request.mutable_writer()->set_term(~uint64_t{0});
  const absl::Status last = group.keeper(1).Take(request).status();
  VICINITY_CHECK_CODE(last, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(last.message()), Catch::Contains("18446744073709551615"));
  VICINITY_CHECK_CODE(group.Appoint(1, AppointmentOf(2'000'000, "b")).status(),
                      absl::StatusCode::kInvalidArgument);
  CHECK(group.shard(1)->writer() == WriterTerm{0, "a"});
}

TEST_CASE("how far others are behind is known", "[keeper]") {
  ReplicaGroup group(2);
  AwaitWriter(group, 0);
  group.Cut(0, 1, true);
  VICINITY_REQUIRE_OK(group.Apply(0, "s", 1, 1, Durability::kSync, kLong).status());
  for (int i = 0; i < 5000 && group.keeper(0).Behind(0) != -1; ++i) {
    absl::SleepFor(absl::Milliseconds(2));
  }
  CHECK(group.keeper(0).Behind(0) == -1);
  CHECK(group.keeper(1).Behind(0) == 0);
  CHECK(group.keeper(0).other_name(0) == "b");
  group.Cut(0, 1, false);
  group.AwaitSame();
  for (int i = 0; i < 5000 && group.keeper(0).Behind(0) != 0; ++i) {
    absl::SleepFor(absl::Milliseconds(2));
  }
  CHECK(group.keeper(0).Behind(0) == 0);
}

}  // namespace
}  // namespace vicinity

#include "client/replicas/replica_server.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "client/replicas/jitter.h"
#include "client/shards/cancellation.h"
#include "client/shards/fan_out.h"
#include "client/shards/traffic.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/virtual_timer.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const absl::Status kGone = absl::UnavailableError("gone");

// A server whose probes answer what the test says, at once or, if `silent`, when they are
// cancelled.
class ReplicaServerTest {
 protected:
  void Make() {
    server_ = std::make_unique<ReplicaServer>(
        "a:1 (server a)", ReplicaServer::Options(), ReplicaTools{&timer_, &jitter_, &traffic_},
        [this](Cancellation* cancel, const Done& done) {
          ++probes_;
          if (!silent_) return done(answer_);
          cancel->Add([done] { done(absl::CancelledError("")); });
        });
    server_->Start();
  }
  void RunFor(Timer::Time length) {
    timer_.RunUntil([] { return false; }, timer_.Now() + length);
  }

  testing::VirtualTimer timer_;
  Jitter jitter_{5};
  TrafficCounters traffic_;
  absl::Status answer_;
  bool silent_ = false;
  int probes_ = 0;
  std::unique_ptr<ReplicaServer> server_;
};

TEST_CASE_METHOD(ReplicaServerTest, "a server is used once its first probe has succeeded",
                 "[replica_server]") {
  Make();
  CHECK_FALSE(server_->live());
  VICINITY_CHECK_CODE(server_->last_error(), absl::StatusCode::kUnavailable);
  RunFor(milliseconds(0));
  CHECK(server_->live());
  CHECK(probes_ == 1);
  RunFor(seconds(100));
  CHECK(probes_ == 1);  // a live server is not probed
  CHECK(traffic_.quarantines.value() == 0);
}

TEST_CASE_METHOD(ReplicaServerTest, "a server that is not there is asked again, ever more seldom",
                 "[replica_server]") {
  answer_ = kGone;
  Make();
  RunFor(seconds(1));
  CHECK(probes_ >= 4);  // pauses of 50 to 100, 200, 400 ms, ...
  CHECK(probes_ <= 6);
  RunFor(seconds(100));
  probes_ = 0;
  RunFor(seconds(100));
  CHECK(probes_ >= 9);  // up to 10 s each
  CHECK(probes_ <= 20);
  CHECK(server_->last_error() == kGone);
  answer_ = absl::OkStatus();
  RunFor(seconds(10));
  CHECK(server_->live());
}

TEST_CASE_METHOD(ReplicaServerTest, "three failures in a row quarantine a server",
                 "[replica_server]") {
  Make();
  RunFor(milliseconds(0));
  server_->OnFailure(kGone);
  server_->OnFailure(kGone);
  CHECK(server_->live());
  server_->OnFailure(kGone);
  CHECK_FALSE(server_->live());
  CHECK(server_->last_error() == kGone);
  CHECK(traffic_.quarantines.value() == 1);
  server_->OnSuccess();  // a late answer
  server_->OnFailure(kGone);
  CHECK_FALSE(server_->live());
  RunFor(milliseconds(100));
  CHECK(server_->live());
  CHECK(traffic_.quarantines.value() == 1);
}

TEST_CASE_METHOD(ReplicaServerTest, "a server that is about to stop is live until it is gone",
                 "[replica_server]") {
  Make();
  RunFor(milliseconds(0));
  CHECK_FALSE(server_->stopping());
  answer_ = kGone;
  for (int i = 0; i < 5; ++i) server_->OnStopping();  // every answer says so
  CHECK(server_->live());
  CHECK(server_->stopping());
  CHECK_THAT(std::string(server_->last_error().message()), Catch::Contains("stopping"));
  for (int i = 0; i < 5; ++i) server_->OnSuccess();
  RunFor(seconds(1));
  CHECK(probes_ > 2);  // for the one that comes in its place
  CHECK(server_->live());
  CHECK(server_->stopping());
  CHECK(traffic_.quarantines.value() == 0);
  SECTION("its successor is used as soon as it is found") {
    answer_ = absl::OkStatus();
    RunFor(seconds(2));
    CHECK(server_->live());
    CHECK_FALSE(server_->stopping());
    server_->OnStopping();
    CHECK(server_->stopping());
  }
  SECTION("the first call that it does not answer is enough") {
    server_->OnFailure(kGone);
    CHECK_FALSE(server_->live());
    CHECK(traffic_.quarantines.value() == 1);
    answer_ = absl::OkStatus();
    RunFor(seconds(2));
    CHECK(server_->live());
    CHECK_FALSE(server_->stopping());
  }
}

TEST_CASE_METHOD(ReplicaServerTest, "a server is kept while one call in eleven fails, not in ten",
                 "[replica_server]") {
  Make();
  RunFor(milliseconds(0));
  const int successes = GENERATE(10, 9);
  for (int i = 0; i < 100; ++i) {
    server_->OnFailure(kGone);
    for (int k = 0; k < successes; ++k) server_->OnSuccess();
  }
  CHECK(server_->live() == (successes == 10));
}

TEST_CASE_METHOD(ReplicaServerTest, "who is back is on probation", "[replica_server]") {
  Make();
  RunFor(milliseconds(0));
  server_->Expel(kGone);
  RunFor(milliseconds(100));
  REQUIRE(server_->live());
  const int successes = GENERATE(0, 10, 11);
  for (int i = 0; i < successes; ++i) server_->OnSuccess();
  server_->OnFailure(kGone);
  CHECK(server_->live() == (successes > 0));
  server_->OnFailure(kGone);
  CHECK(server_->live() == (successes > 10));
}

TEST_CASE_METHOD(ReplicaServerTest, "a server that passes probes only is out ever longer",
                 "[replica_server]") {
  Make();
  RunFor(milliseconds(0));
  Timer::Time last_pause(0);
  for (int round = 0; round < 12; ++round) {
    server_->Expel(kGone);
    const Timer::Time before = timer_.Now();
    REQUIRE(timer_.RunUntil([&] { return server_->live(); }, before + seconds(11)));
    const Timer::Time pause = timer_.Now() - before;
    CHECK(pause >= milliseconds(50));
    CHECK(pause <= seconds(10));
    if (round > 0 && round < 6) CHECK(pause > last_pause / 2);
    last_pause = pause;
  }
  CHECK(last_pause >= seconds(5));
  for (int i = 0; i < 20; ++i) server_->OnSuccess();
  server_->Expel(kGone);
  const Timer::Time before = timer_.Now();
  REQUIRE(timer_.RunUntil([&] { return server_->live(); }, before + seconds(11)));
  CHECK(timer_.Now() - before <= milliseconds(100));
}

TEST_CASE_METHOD(ReplicaServerTest, "a call that waits hastens the probe, within reason",
                 "[replica_server]") {
  answer_ = kGone;
  Make();
  RunFor(seconds(60));
  probes_ = 0;
  for (int i = 0; i < 10'000; ++i) {
    server_->ProbeSoon();
    RunFor(milliseconds(0));
    timer_.Schedule(timer_.Now() + milliseconds(1), [] {});
    RunFor(milliseconds(1));
  }
  CHECK(probes_ >= 90);
  CHECK(probes_ <= 110);  // one in 100 ms of 10 s
}

TEST_CASE_METHOD(ReplicaServerTest, "a server may go while its probe waits or runs",
                 "[replica_server]") {
  answer_ = kGone;
  silent_ = GENERATE(false, true);
  Make();
  RunFor(milliseconds(0));
  CHECK(probes_ == 1);
  server_.reset();
  RunFor(seconds(100));
  CHECK(probes_ == 1);
}

TEST_CASE_METHOD(ReplicaServerTest, "load is what is under way", "[replica_server]") {
  Make();
  server_->Begin(100);
  server_->Begin(20);
  server_->End(100);
  CHECK(server_->bytes_in_flight() == 20);
  server_->HoldUntil(seconds(3));
  CHECK(server_->held_until() == seconds(3));
}

}  // namespace
}  // namespace vicinity

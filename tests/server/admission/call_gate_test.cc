#include "server/admission/call_gate.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/mutex.h"
#include "server/admission/admission.h"
#include "server/admission/admission_limits.h"
#include "server/logging/logging.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Passage = CallGate::Passage;
using SystemClock = std::chrono::system_clock;

constexpr SystemClock::time_point kNoDeadline = SystemClock::time_point::max();

Passage::Wish Wish(const std::string& client, SystemClock::time_point deadline = kNoDeadline) {
  Passage::Wish wish;
  wish.client = client;
  wish.reply_bytes = 10;
  wish.deadline = deadline;
  return wish;
}

// A switch that threads wait for, with a limit.
class Gong {
 public:
  void Sound() {
    MutexLock lock(&mu_);
    sounded_ = true;
    changed_.NotifyAll();
  }
  bool Wait() {
    MutexLock lock(&mu_);
    for (int i = 0; i < 300 && !sounded_; ++i) changed_.WaitFor(&mu_, milliseconds(100));
    return sounded_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool sounded_ ABSL_GUARDED_BY(mu_) = false;
};

// A call whose thread waits for its turn, which the gate itself asks of nobody.
class WaitingCall {
 public:
  WaitingCall(
      CallGate* gate, const Passage::Wish& wish, std::function<void()> cut_off = [] {})
      : passage_(
            gate, [this] { moved_.Sound(); }, std::move(cut_off)) {
    if (passage_.Enter(wish) == Admission::Place::kWaiting) moved_.Wait();
    if (passage_.place() != Admission::Place::kRunning) status_ = passage_.status();
  }

  const absl::Status& status() const { return status_; }
  std::chrono::milliseconds retry_after() const { return passage_.retry_after(); }
  bool Write(int64_t bytes, const std::function<bool()>& write) {
    passage_.WriteBegins();
    const bool written = write();
    if (written) passage_.WriteEnds(bytes);
    return written;
  }

 private:
  Gong moved_;
  absl::Status status_;
  Passage passage_;
};

class GateTest {
 protected:
  GateTest() : log_(MakeSilentLogger()) {
    limits_.max_running = 1;
    limits_.stall_time = milliseconds(100);
    limits_.max_queue_delay = milliseconds(10'000);  // no overloads but where they are the point
  }
  CallGate& gate() {
    if (gate_ == nullptr) gate_ = std::make_unique<CallGate>(limits_, log_.get());
    return *gate_;
  }
  bool WaitForGauges(const std::function<bool(const AdmissionGauges&)>& hold) {
    for (int i = 0; i < 3000; ++i) {
      if (hold(gate().gauges())) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }

  AdmissionLimits limits_;
  std::shared_ptr<spdlog::logger> log_;
  std::unique_ptr<CallGate> gate_;
};

TEST_CASE_METHOD(GateTest, "a call waits until another ends", "[call_gate]") {
  auto first = std::make_unique<WaitingCall>(&gate(), Wish("a"));
  VICINITY_REQUIRE_OK(first->status());
  std::atomic<bool> passed{false};
  std::thread second([&] {
    const WaitingCall passage(&gate(), Wish("b"));
    passed = passage.status().ok();
  });
  CHECK(WaitForGauges([](const AdmissionGauges& gauges) { return gauges.waiting == 1; }));
  CHECK_FALSE(passed);
  first.reset();
  second.join();
  CHECK(passed);
  CHECK(gate().gauges().running == 0);
}

TEST_CASE_METHOD(GateTest, "who waits and is gone stops waiting, and is not told of its turn",
                 "[call_gate]") {
  auto first = std::make_unique<WaitingCall>(&gate(), Wish("a"));
  std::atomic<int> told{0};
  Passage gone(
      &gate(), [&told] { ++told; }, [] {});
  CHECK_FALSE(gone.Abandon());  // nothing to abandon yet
  CHECK(gone.Enter(Wish("b")) == Admission::Place::kWaiting);
  CHECK(gone.Abandon());
  CHECK_FALSE(gone.Abandon());
  CHECK(gate().gauges().waiting == 0);
  first.reset();
  CHECK(told == 0);
}

TEST_CASE_METHOD(GateTest, "lanes do not wait for each other", "[call_gate]") {
  const WaitingCall data(&gate(), Wish("a"));
  for (const Lane lane : {Lane::kSmall, Lane::kHealth, Lane::kWrites, Lane::kReplicas}) {
    Passage::Wish wish = Wish("a");
    wish.lane = lane;
    const WaitingCall other(&gate(), wish);
    VICINITY_CHECK_OK(other.status());
    CHECK(gate().gauges(lane).running == 1);
  }
  const int64_t small = gate().max_running(Lane::kSmall) + gate().max_running(Lane::kHealth);
  CHECK(CallGate::MaxRunningInAll(limits_) == 1 + small);
  CHECK(CallGate::MaxRunningInAll(limits_, /*is_written=*/true) ==
        1 + small + gate().max_running(Lane::kWrites) + gate().max_running(Lane::kReplicas));
}

TEST_CASE_METHOD(GateTest, "a request that does not arrive is cut off", "[call_gate]") {
  limits_.write_timeout = milliseconds(200);
  Gong cut_off;
  const Passage silent(
      &gate(), [] {}, [&] { cut_off.Sound(); });
  CHECK(cut_off.Wait());
  CHECK(gate().cut_off() == 1);
}

TEST_CASE_METHOD(GateTest, "a conversation takes a turn for each of its requests", "[call_gate]") {
  Passage passage(
      &gate(), [] {}, [] {});
  for (int i = 0; i < 3; ++i) {
    CHECK(passage.Enter(Wish("a")) == Admission::Place::kRunning);
    passage.WriteBegins();
    passage.WriteEnds(5);
    passage.Leave();
    const WaitingCall between(&gate(), Wish("b"));
    VICINITY_CHECK_OK(between.status());
  }
}

TEST_CASE_METHOD(GateTest, "a call that expires while it waits is told so", "[call_gate]") {
  limits_.max_running = 1;
  auto first = std::make_unique<WaitingCall>(&gate(), Wish("a"));
  std::thread ends([&] {
    WaitForGauges([](const AdmissionGauges& gauges) { return gauges.waiting == 1; });
    std::this_thread::sleep_for(milliseconds(60));
    first.reset();
  });
  const WaitingCall late(&gate(), Wish("b", SystemClock::now() + milliseconds(50)));
  VICINITY_CHECK_CODE(late.status(), absl::StatusCode::kDeadlineExceeded);
  ends.join();
}

TEST_CASE_METHOD(GateTest, "a refused call is told when to come again", "[call_gate]") {
  limits_.max_client_calls = 1;
  const WaitingCall first(&gate(), Wish("a"));
  const WaitingCall refused(&gate(), Wish("a"));
  VICINITY_CHECK_CODE(refused.status(), absl::StatusCode::kResourceExhausted);
  CHECK(refused.retry_after() > milliseconds(0));
}

TEST_CASE_METHOD(GateTest, "a client that does not read lets others pass, and is cut off",
                 "[call_gate]") {
  limits_.write_timeout = milliseconds(400);
  gate();
  Gong cut_off;
  std::atomic<int> times{0};
  const auto cut = [&] {
    ++times;
    cut_off.Sound();
  };
  std::atomic<bool> was_cut_off{false};
  std::thread slow([&] {
    WaitingCall passage(&gate(), Wish("slow"), cut);
    passage.Write(5, [] { return true; });
    was_cut_off = !passage.Write(5, [&] { return !cut_off.Wait(); });
  });
  REQUIRE(WaitForGauges([](const AdmissionGauges& gauges) { return gauges.stalled == 1; }));
  {
    const WaitingCall other(&gate(), Wish("quick"));
    VICINITY_CHECK_OK(other.status());
  }
  slow.join();
  CHECK(was_cut_off);
  CHECK(times == 1);
  CHECK(gate().cut_off() == 1);
  CHECK(gate().gauges().stalled == 0);
}

TEST_CASE_METHOD(GateTest, "who does not read while others are served gives up the turn",
                 "[call_gate]") {
  limits_.max_running = 2;
  limits_.stall_time = milliseconds(60);
  gate();
  Gong end;
  std::thread slow([&] {
    WaitingCall passage(&gate(), Wish("slow"));
    passage.Write(5, [&] { return end.Wait(); });
  });
  WaitingCall quick(&gate(), Wish("quick"));
  bool stalled = false;
  for (int i = 0; i < 3000 && !stalled; ++i) {
    quick.Write(1 << 20, [] {
      std::this_thread::sleep_for(milliseconds(5));
      return true;
    });
    stalled = gate().gauges().stalled == 1;
  }
  CHECK(stalled);
  end.Sound();
  slow.join();
}

TEST_CASE_METHOD(GateTest, "on a slow link nobody gives up the turn", "[call_gate]") {
  limits_.max_running = 2;
  limits_.stall_time = milliseconds(60);
  gate();
  std::atomic<bool> end{false};
  std::atomic<bool> stalled{false};
  // A write of one takes three times the stall time, but something moves all the while.
  std::thread other([&] {
    WaitingCall passage(&gate(), Wish("other"));
    while (!end) {
      passage.Write(1000, [] {
        std::this_thread::sleep_for(milliseconds(30));
        return true;
      });
    }
  });
  {
    WaitingCall passage(&gate(), Wish("c"));
    for (int i = 0; i < 4; ++i) {
      passage.Write(1000, [&] {
        for (int look = 0; look < 18; ++look) {
          std::this_thread::sleep_for(milliseconds(10));
          if (gate().gauges().stalled > 0) stalled = true;
        }
        return true;
      });
    }
  }
  end = true;
  other.join();
  // A pause of this whole process may look like a client that does not read.
  CHECK_NOFAIL(!stalled);
}

TEST_CASE_METHOD(GateTest, "of too many that do not read, those that wait longest are cut off",
                 "[call_gate]") {
  limits_.max_calls = 4;  // half of them may stall
  limits_.write_timeout = milliseconds(3000);
  limits_.max_client_calls = 4;
  gate();
  std::atomic<int> cut_off{0};
  std::vector<std::thread> slow;
  Gong end;
  for (int i = 0; i < 4; ++i) {
    slow.emplace_back([&, i] {
      Gong mine;
      WaitingCall passage(&gate(), Wish(absl::StrCat("slow", i)), [&] {
        ++cut_off;
        mine.Sound();
        if (cut_off == 2) end.Sound();
      });
      passage.Write(5, [&] { return i < 2 ? !mine.Wait() : end.Wait(); });
    });
    // In this order: the first two block for longest.
    WaitForGauges([&](const AdmissionGauges& gauges) { return gauges.stalled >= std::min(i, 2); });
  }
  for (std::thread& thread : slow) thread.join();
  CHECK(cut_off == 2);
  CHECK(gate().cut_off() == 2);
}

TEST_CASE_METHOD(GateTest, "writes that go on are not cut off", "[call_gate]") {
  limits_.write_timeout = milliseconds(2000);  // no pause of a busy machine
  WaitingCall passage(&gate(), Wish("steady"));
  const auto end = std::chrono::steady_clock::now() + milliseconds(4500);
  while (std::chrono::steady_clock::now() < end) {
    CHECK(passage.Write(1, [] {
      std::this_thread::sleep_for(milliseconds(20));
      return true;
    }));
  }
  CHECK(gate().cut_off() == 0);
}

TEST_CASE_METHOD(GateTest, "many calls of many clients all pass", "[call_gate]") {
  limits_.max_running = 3;
  gate();
  std::atomic<int> passed{0};
  std::atomic<int> at_once{0};
  std::atomic<bool> too_many{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        WaitingCall passage(&gate(), Wish(absl::StrCat("client", t)));
        if (!passage.status().ok()) continue;
        if (++at_once > 3) too_many = true;
        passage.Write(10, [] { return true; });
        --at_once;
        ++passed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(passed == 800);
  CHECK_FALSE(too_many);
  CHECK(gate().gauges().clients == 0);
}

}  // namespace
}  // namespace vicinity

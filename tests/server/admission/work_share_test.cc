// Virtual time.
#include "server/admission/work_share.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "server/admission/admission.h"
#include "server/admission/admission_limits.h"

namespace vicinity {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Time = WorkShare::Time;

const Time kBegin{seconds(1000)};

// Callers of two lanes, each of which asks again as soon as it is answered or refused.
class Lanes {
 public:
  struct Callers {
    int count = 0;
    microseconds work{0};  // of each call, on average
  };

  Lanes(double share, Callers reads, Callers writes)
      : share_(share),
        reads_(LimitsOf(4), reads),
        writes_(LimitsOf(16), writes, &share_, &reads_.admission) {
    for (int i = 0; i < reads.count; ++i) Ask(&reads_);
    for (int i = 0; i < writes.count; ++i) Ask(&writes_);
  }

  void Run(seconds time) {
    const Time end = now_ + time;
    while (now_ < end) {
      // As the gate's thread does, and at the end of each call.
      const Time tick = last_tick_ + milliseconds(5);
      const Time next = ends_.empty() ? tick : std::min(tick, ends_.top().first);
      Pass(next - now_);
      now_ = next;
      if (now_ == tick) Tick();
      while (!ends_.empty() && ends_.top().first <= now_) EndOne();
    }
  }
  void SetReaders(int count) {
    reads_.callers.count = count;
    for (; reads_.there < count;) Ask(&reads_);
  }

  double reads_seconds() const { return reads_.seconds; }
  double writes_seconds() const { return writes_.seconds; }
  double writes_part() const { return writes_.seconds / (reads_.seconds + writes_.seconds); }
  int64_t num_writes() const { return writes_.done; }
  std::chrono::nanoseconds longest_without_write() const { return longest_without_write_; }
  const WorkShare& share() const { return share_; }
  void Forget() { reads_.seconds = writes_.seconds = 0; }

 private:
  struct Lane {
    Lane(const AdmissionLimits& limits, Callers callers, WorkShare* share = nullptr,
         const Admission* reads = nullptr)
        : admission(limits, share, reads), callers(callers) {}
    Admission admission;
    Callers callers;
    int there = 0;  // calls
    double seconds = 0;
    int64_t done = 0;
  };
  class OneCall final : public Admission::Call {
   public:
    OneCall(Lanes* lanes, Lane* lane) : Call("c", 1, Time::max()), lanes_(lanes), lane_(lane) {}
    void OnMoved() override { lanes_->moved_.push_back(this); }
    Lane* lane() const { return lane_; }

   private:
    Lanes* const lanes_;
    Lane* const lane_;
  };

  static AdmissionLimits LimitsOf(int64_t running) {
    AdmissionLimits limits;
    limits.max_running = running;
    limits.max_client_calls = 1000;
    limits.max_queue_delay = milliseconds(60'000);  // nobody is refused here
    return limits;
  }
  void Ask(Lane* lane) {
    calls_.push_back(std::make_unique<OneCall>(this, lane));
    ++lane->there;
    OneCall* const call = calls_.back().get();
    if (lane->admission.Enter(call, now_) == Admission::Place::kRunning) Begin(call);
    BeginMoved();
  }
  void Begin(OneCall* call) {
    std::uniform_real_distribution<double> work(0.5, 1.5);
    const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(
        call->lane()->callers.work * work(random_));
    ends_.push({now_ + std::max(time, std::chrono::nanoseconds(1)), call});
  }
  void BeginMoved() {
    while (!moved_.empty()) {
      OneCall* const call = moved_.back();
      moved_.pop_back();
      REQUIRE(call->lane()->admission.PlaceOf(*call) == Admission::Place::kRunning);
      Begin(call);
    }
  }
  void EndOne() {
    OneCall* const call = ends_.top().second;
    ends_.pop();
    Lane* const lane = call->lane();
    lane->admission.Leave(call, now_);
    BeginMoved();
    ++lane->done;
    --lane->there;
    calls_.erase(std::find_if(calls_.begin(), calls_.end(),
                              [call](const auto& each) { return each.get() == call; }));
    if (lane->there < lane->callers.count) Ask(lane);
  }
  void Tick() {
    last_tick_ = now_;
    reads_.admission.Advance(now_);
    writes_.admission.Advance(now_);
    BeginMoved();
  }
  void Pass(std::chrono::duration<double> time) {
    const AdmissionGauges writes = writes_.admission.gauges();
    const AdmissionGauges reads = reads_.admission.gauges();
    if (reads.waiting > 0) {
      reads_.seconds += time.count() * static_cast<double>(reads.running);
      writes_.seconds += time.count() * static_cast<double>(writes.running);
    }
    if (writes.running > 0 || writes.waiting == 0) last_writing_ = now_;
    longest_without_write_ = std::max(longest_without_write_, now_ - last_writing_);
  }

  WorkShare share_;
  Time now_ = kBegin;
  Time last_tick_ = kBegin;
  Time last_writing_ = kBegin;
  std::chrono::nanoseconds longest_without_write_{0};
  std::mt19937_64 random_{1};
  Lane reads_;
  Lane writes_;
  std::vector<std::unique_ptr<OneCall>> calls_;
  std::vector<OneCall*> moved_;
  std::priority_queue<std::pair<Time, OneCall*>, std::vector<std::pair<Time, OneCall*>>,
                      std::greater<>>
      ends_;
};

TEST_CASE("while reads wait, writes are their share of the work", "[work_share]") {
  const double share = GENERATE(0.05, 0.1, 0.25, 0.5, 0.7);
  const int write_us = GENERATE(500, 7'000, 40'000);
  CAPTURE(share, write_us);
  Lanes lanes(share, {12, microseconds(5'000)}, {20, microseconds(write_us)});
  lanes.Run(seconds(5));
  lanes.Forget();
  lanes.Run(seconds(300));
  CHECK(lanes.writes_part() < share + 0.005);
  CHECK(lanes.writes_part() > share - 0.005);
  CHECK(lanes.reads_seconds() > 4 * 299.0);  // every turn of theirs is taken
}

TEST_CASE("while no read waits, writes have all turns", "[work_share]") {
  const int readers = GENERATE(0, 1, 4);
  CAPTURE(readers);
  Lanes lanes(0.01, {readers, microseconds(5'000)}, {16, microseconds(10'000)});
  lanes.Run(seconds(100));
  CHECK(lanes.num_writes() > 16 * 100 * 100 * 0.98);
  CHECK(lanes.share().held_back() == 0);
  CHECK(lanes.writes_seconds() == 0);
}

TEST_CASE("reads that come and go leave writes their share while they wait, and all else",
          "[work_share]") {
  Lanes lanes(0.2, {0, microseconds(5'000)}, {16, microseconds(3'000)});
  double contended = 0;
  for (int round = 0; round < 50; ++round) {
    const int64_t before = lanes.num_writes();
    lanes.Run(seconds(2));
    CHECK(lanes.num_writes() - before > 16 * 333 * 1.9);
    lanes.SetReaders(12);
    lanes.Run(seconds(4));
    contended += 4;
    lanes.SetReaders(0);
  }
  CHECK(lanes.reads_seconds() > contended * 4 * 0.98);
  CHECK(lanes.writes_part() < 0.21);
  CHECK(lanes.writes_part() > 0.18);
}

TEST_CASE("a write is never held back for longer than half a second", "[work_share]") {
  Lanes lanes(0.0001, {12, microseconds(5'000)}, {8, microseconds(50'000)});
  lanes.Run(seconds(200));
  CHECK(lanes.longest_without_write() >= milliseconds(400));
  CHECK(lanes.longest_without_write() <= WorkShare::kLongestWait + milliseconds(10));
  CHECK(lanes.num_writes() >= 200 * 1.5);
}

TEST_CASE("a share of one lets all writes run", "[work_share]") {
  Lanes lanes(1, {12, microseconds(5'000)}, {16, microseconds(10'000)});
  lanes.Run(seconds(100));
  CHECK(lanes.num_writes() > 16 * 100 * 100 * 0.98);
  CHECK(lanes.share().held_back() == 0);
}

TEST_CASE("what ran while reads waited is counted", "[work_share]") {
  WorkShare share(0.5);
  share.Look({2, 0, 3}, kBegin);
  share.Look({2, 1, 3}, kBegin + seconds(1));  // nobody has waited
  CHECK(share.use().reads_seconds == 0);
  share.Look({2, 0, 1}, kBegin + milliseconds(1500));
  CHECK(share.use().reads_seconds == Approx(1));
  CHECK(share.use().writes_seconds == Approx(1.5));
  share.Look({2, 0, 1}, kBegin + seconds(5));
  CHECK(share.use().writes_seconds == Approx(1.5));
}

TEST_CASE("what writes owe is forgotten after a second in which no read waits", "[work_share]") {
  WorkShare share(0.5);
  share.Look({1, 1, 10}, kBegin);
  share.Look({1, 1, 0}, kBegin + milliseconds(100));
  CHECK_FALSE(share.MayRun(kBegin + milliseconds(100)));
  share.Look({1, 0, 0}, kBegin + milliseconds(100));
  CHECK(share.MayRun(kBegin + milliseconds(100)));
  share.Look({1, 1, 1}, kBegin + milliseconds(200));
  CHECK_FALSE(share.MayRun(kBegin + milliseconds(200)));
  share.Look({1, 0, 1}, kBegin + milliseconds(200));
  share.Look({1, 0, 1}, kBegin + milliseconds(1300));
  share.Look({1, 1, 0}, kBegin + milliseconds(1300));
  CHECK(share.MayRun(kBegin + milliseconds(1300)));
  share.Look({1, 1, 1}, kBegin + milliseconds(1300));
  CHECK_FALSE(share.MayRun(kBegin + milliseconds(1300)));  // two would be more than one read
}

}  // namespace
}  // namespace vicinity

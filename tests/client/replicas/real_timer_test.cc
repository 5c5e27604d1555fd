#include "client/replicas/real_timer.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/fan_out.h"

namespace vicinity {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST_CASE("callbacks run in the order of their times", "[real_timer]") {
  std::vector<int> order;
  RealTimer timer;
  const Timer::Time now = timer.Now();
  {
    FanOut all;
    for (const int delay : {30, 10, 20, 0}) {
      timer.Schedule(now + milliseconds(delay), [&order, delay, done = all.Add()] {
        order.push_back(delay);
        done(absl::OkStatus());
      });
    }
    REQUIRE(all.Wait().ok());
  }
  CHECK(order == std::vector<int>{0, 10, 20, 30});
  CHECK(timer.Now() >= now + milliseconds(30));
}

TEST_CASE("a cancelled callback does not run", "[real_timer]") {
  RealTimer timer;
  std::atomic<bool> ran{false};
  const int64_t id = timer.Schedule(timer.Now() + hours(1), [&] { ran = true; });
  CHECK(timer.Cancel(id));
  CHECK_FALSE(timer.Cancel(id));
  CHECK_FALSE(timer.Cancel(12345));
  CHECK_FALSE(ran);
}

// The thread sleeps until the first that it knows of: one that is due sooner has to wake it.
TEST_CASE("a callback is not late for one that is due later", "[real_timer]") {
  RealTimer timer;
  const Timer::Time begin = timer.Now();
  for (int i = 0; i < 50; ++i) {
    const int64_t later = timer.Schedule(timer.Now() + hours(1), [] {});
    FanOut sooner;
    timer.Schedule(timer.Now() + milliseconds(2),
                   [done = sooner.Add()] { done(absl::OkStatus()); });
    REQUIRE(sooner.Wait().ok());
    if (i % 2 == 0) CHECK(timer.Cancel(later));
  }
  CHECK(timer.Now() - begin < std::chrono::seconds(20));  // the thread looks once a second anyway
}

TEST_CASE("a timer may go while callbacks wait", "[real_timer]") {
  std::atomic<int> ran{0};
  {
    RealTimer timer;
    timer.Schedule(timer.Now() + hours(1), [&] { ++ran; });
  }
  CHECK(ran == 0);
}

TEST_CASE("callbacks schedule and cancel others from many threads", "[real_timer]") {
  RealTimer timer;
  std::atomic<int> ran{0};
  FanOut all;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const int64_t far = timer.Schedule(timer.Now() + hours(1), [] {});
        timer.Schedule(timer.Now(), [&, far, done = all.Add()] {
          if (timer.Cancel(far)) ++ran;
          timer.Schedule(timer.Now(), [done] { done(absl::OkStatus()); });
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(all.Wait().ok());
  CHECK(ran == 800);
}

}  // namespace
}  // namespace vicinity

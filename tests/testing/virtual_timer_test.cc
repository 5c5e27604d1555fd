#include "tests/testing/virtual_timer.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/fan_out.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST_CASE("virtual time jumps from one callback to the next", "[virtual_timer]") {
  VirtualTimer timer;
  std::vector<int> order;
  timer.Schedule(seconds(2), [&] { order.push_back(2); });
  timer.Schedule(seconds(1), [&] {
    order.push_back(1);
    timer.Schedule(seconds(0), [&] { order.push_back(0); });  // late: at once, time stays
  });
  const int64_t dropped = timer.Schedule(seconds(1), [&] { order.push_back(-1); });
  CHECK(timer.Cancel(dropped));
  CHECK_FALSE(timer.Cancel(dropped));
  while (timer.RunNext()) {
  }
  CHECK(order == std::vector<int>{1, 0, 2});
  CHECK(timer.Now() == seconds(2));
}

TEST_CASE("a run ends at its condition or its limit", "[virtual_timer]") {
  VirtualTimer timer;
  int count = 0;
  for (int i = 1; i <= 10; ++i) timer.Schedule(seconds(i), [&] { ++count; });
  CHECK(timer.RunUntil([&] { return count == 3; }, hours(1)));
  CHECK(timer.Now() == seconds(3));
  CHECK_FALSE(timer.RunUntil([&] { return false; }, seconds(5)));
  CHECK(count == 5);
}

TEST_CASE("time passes while somebody waits", "[virtual_timer]") {
  VirtualTimer timer;
  PassingTime passing(&timer);
  std::atomic<int> left{1000};
  std::function<void()> tick = [&] {
    if (--left > 0) timer.Schedule(timer.Now() + hours(1), tick);
  };
  FanOut calls;
  passing.Begin([&] {
    timer.Schedule(hours(1), tick);
    timer.Schedule(hours(1001), [&, done = calls.Add()] {
      passing.End();
      done(absl::OkStatus());
    });
  });
  VICINITY_CHECK_OK(calls.Wait());
  CHECK(left == 0);
  CHECK(timer.Now() == hours(1001));
}

}  // namespace
}  // namespace vicinity::testing

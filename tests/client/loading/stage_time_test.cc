#include "client/loading/stage_time.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

namespace vicinity {
namespace {

TEST_CASE("all of a thread's time is in one state or another", "[stage_time]") {
  StageTotals totals;
  const auto before = std::chrono::steady_clock::now();
  {
    StageClock clock(&totals, StageState::kStarved);
    clock.Enter(StageState::kBusy);
    clock.Enter(StageState::kBlocked);
    clock.Enter(StageState::kBusy);
  }
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - before;
  const StageTotals::Values values = totals.Read();
  const double sum = values.seconds[0] + values.seconds[1] + values.seconds[2];
  CHECK(sum > 0);
  CHECK(sum <= whole.count());
}

TEST_CASE("threads add up", "[stage_time]") {
  StageTotals totals;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&totals] {
      for (int i = 0; i < 100; ++i) {
        totals.Add(StageState::kBlocked, 0.5);
        totals.CountBatch();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(totals.Read().batches == 400);
  CHECK(totals.Read().seconds[static_cast<int>(StageState::kBlocked)] == 200.0);
}

}  // namespace
}  // namespace vicinity

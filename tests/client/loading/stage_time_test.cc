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
        totals.Add(StageState::kBlocked, std::chrono::milliseconds(500));
        totals.CountBatch();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(totals.Read().batches == 400);
  CHECK(totals.Read().seconds[static_cast<int>(StageState::kBlocked)] == 200.0);
}

TEST_CASE("a stage's times are metrics in seconds, one a state", "[stage_time]") {
  StageTotals totals;
  totals.Add(StageState::kBlocked, std::chrono::milliseconds(1500));
  totals.CountBatch();
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  totals.AddMetrics({{"stage", "fetch"}}, &group);
  const std::vector<MetricRegistry::Reading> readings = registry.Read();
  REQUIRE(readings.size() == 4);
  CHECK(readings[0].metric.name == "vicinity_loader_stage_batches_total");
  CHECK(readings[0].value == 1);
  CHECK(readings[1].labels == MetricLabels{{"stage", "fetch"}, {"state", "blocked"}});
  CHECK(readings[1].value == Approx(1.5));
}

}  // namespace
}  // namespace vicinity

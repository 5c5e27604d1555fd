#include "client/loading/stage_time.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
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
        totals.AddBatch(std::chrono::milliseconds(i));
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
  totals.AddBatch(std::chrono::milliseconds(3));
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  totals.AddMetrics({{"stage", "fetch"}}, &group);
  const std::vector<MetricRegistry::Reading> readings = registry.Read();
  const auto value_of = [&](const std::string& name, const MetricLabels& labels) {
    for (const MetricRegistry::Reading& reading : readings) {
      if (reading.metric.name == name && reading.labels == labels) return reading.value;
    }
    return -1.0;
  };
  const MetricLabels blocked = {{"stage", "fetch"}, {"state", "blocked"}};
  CHECK(value_of("vicinity_loader_stage_seconds_total", blocked) == Approx(1.5));
  const std::string batch = "vicinity_loader_stage_batch_seconds";
  CHECK(value_of(batch + "_count", {{"stage", "fetch"}}) == 1);
  CHECK(value_of(batch + "_sum", {{"stage", "fetch"}}) == Approx(0.003));
  CHECK(value_of(batch + "_bucket", {{"stage", "fetch"}, {"le", "0.0025"}}) == 0);
  CHECK(value_of(batch + "_bucket", {{"stage", "fetch"}, {"le", "0.005"}}) == 1);
}

TEST_CASE("a batch takes what its stage was busy, not what it waited", "[stage_time]") {
  StageTotals totals;
  StageClock clock(&totals, StageState::kStarved);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  clock.Enter(StageState::kBusy);
  clock.Enter(StageState::kBlocked);
  clock.EndBatch();
  CHECK(totals.batches().count() == 1);
  CHECK(totals.batches().seconds() == totals.Read().seconds[static_cast<int>(StageState::kBusy)]);
  clock.Enter(StageState::kBusy);
  clock.Enter(StageState::kStarved);
  clock.EndBatch();
  CHECK(totals.batches().count() == 2);
  CHECK(totals.batches().seconds() == totals.Read().seconds[static_cast<int>(StageState::kBusy)]);
}

}  // namespace
}  // namespace vicinity

// Where a pipeline's stages spend their time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

enum class StageState : uint8_t { kBusy = 0, kStarved, kBlocked };

// Seconds by state, summed over a stage's threads.
//
// Threads: any number.
class StageTotals {
 public:
  struct Values {
    int64_t batches = 0;
    double seconds[3] = {0, 0, 0};  // by StageState
  };

  void Add(StageState state, std::chrono::nanoseconds time) {
    nanoseconds_[static_cast<int>(state)].Add(time.count());
  }
  void CountBatch() { batches_.Add(); }
  Values Read() const;

  // As vicinity_loader_stage_seconds_total and vicinity_loader_stage_batches_total. It must outlive
  // the group.
  void AddMetrics(const MetricLabels& labels, MetricRegistry::Group* group) const;

 private:
  Counter batches_;
  std::array<Counter, 3> nanoseconds_;  // by StageState
};

// One thread's clock: always in one state, whose time is added when it is left.
//
// Lifetime: totals must outlive it. Threads: one at a time.
class StageClock {
 public:
  StageClock(StageTotals* totals, StageState state);
  ~StageClock();
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

  void Enter(StageState state);

 private:
  using Clock = std::chrono::steady_clock;
  StageTotals* const totals_;
  StageState state_;
  Clock::time_point since_;
};

}  // namespace vicinity

// Where a pipeline's stages spend their time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "proto/telemetry/latency_histogram.h"
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
  // A batch has gone through, which has kept a thread busy for so long.
  void AddBatch(std::chrono::nanoseconds busy) { batches_.Add(busy); }
  Values Read() const;
  const LatencyHistogram& batches() const { return batches_; }

  // As vicinity_loader_stage_seconds_total and the histogram vicinity_loader_stage_batch_seconds.
  // It must outlive the group.
  void AddMetrics(const MetricLabels& labels, MetricRegistry::Group* group) const;

 private:
  LatencyHistogram batches_;
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
  // A batch is done: what this has been busy since the one before, up to the last Enter, was for
  // it.
  void EndBatch();

 private:
  using Clock = std::chrono::steady_clock;
  StageTotals* const totals_;
  StageState state_;
  Clock::time_point since_;
  Clock::duration busy_{0};  // for the batch, up to since_
};

}  // namespace vicinity

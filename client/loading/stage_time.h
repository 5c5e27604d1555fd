// Where a pipeline's stages spend their time.
#pragma once

#include <chrono>
#include <cstdint>

#include "proto/common/mutex.h"

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

  void Add(StageState state, double seconds);
  void CountBatch();
  Values Read() const;

 private:
  mutable Mutex mu_;
  Values values_ ABSL_GUARDED_BY(mu_);
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

#include "client/loading/stage_time.h"

namespace vicinity {

void StageTotals::Add(StageState state, double seconds) {
  MutexLock lock(&mu_);
  values_.seconds[static_cast<int>(state)] += seconds;
}

void StageTotals::CountBatch() {
  MutexLock lock(&mu_);
  ++values_.batches;
}

StageTotals::Values StageTotals::Read() const {
  MutexLock lock(&mu_);
  return values_;
}

StageClock::StageClock(StageTotals* totals, StageState state)
    : totals_(totals), state_(state), since_(Clock::now()) {}

StageClock::~StageClock() { Enter(state_); }

void StageClock::Enter(StageState state) {
  const Clock::time_point now = Clock::now();
  totals_->Add(state_, std::chrono::duration<double>(now - since_).count());
  state_ = state;
  since_ = now;
}

}  // namespace vicinity

#include "client/loading/stage_time.h"

#include <utility>

namespace vicinity {
namespace {

constexpr const char* kStateNames[] = {"busy", "starved", "blocked"};

}  // namespace

StageTotals::Values StageTotals::Read() const {
  Values values;
  values.batches = batches_.count();
  for (size_t state = 0; state < nanoseconds_.size(); ++state) {
    values.seconds[state] = static_cast<double>(nanoseconds_[state].value()) * 1e-9;
  }
  return values;
}

void StageTotals::AddMetrics(const MetricLabels& labels, MetricRegistry::Group* group) const {
  group->Add(
      {"vicinity_loader_stage_batch_seconds", "How long a batch keeps a stage's thread busy"},
      labels, &batches_);
  for (size_t state = 0; state < nanoseconds_.size(); ++state) {
    MetricLabels of_state = labels;
    of_state.emplace_back("state", kStateNames[state]);
    group->Add({"vicinity_loader_stage_seconds_total",
                "Time of a stage's threads: busy, without work, or without room"},
               of_state, &nanoseconds_[state], 1e-9);
  }
}

StageClock::StageClock(StageTotals* totals, StageState state)
    : totals_(totals), state_(state), since_(Clock::now()) {}

StageClock::~StageClock() { Enter(state_); }

void StageClock::Enter(StageState state) {
  const Clock::time_point now = Clock::now();
  totals_->Add(state_, now - since_);
  if (state_ == StageState::kBusy) busy_ += now - since_;
  state_ = state;
  since_ = now;
}

void StageClock::EndBatch() { totals_->AddBatch(std::exchange(busy_, Clock::duration(0))); }

}  // namespace vicinity

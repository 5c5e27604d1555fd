#include "server/admission/work_share.h"

#include <algorithm>

namespace vicinity {
namespace {

// After so long without a read that waits all is forgotten, and so much may be saved of what the
// reads at work pay in.
constexpr std::chrono::seconds kMemory(1);
// What is owed at most, in seconds of work: as many writes as there are at once, each of a second.
constexpr double kMostOwed = 16;
// What is saved is spent in so many seconds, and not at once.
constexpr double kSpendSeconds = 0.1;

}  // namespace

void WorkShare::Look(const Load& load, Time now) {
  MutexLock lock(&mu_);
  if (last_look_ != Time()) Count(now - last_look_);
  if (load_.reads_waiting > 0 || load.reads_waiting > 0 || last_look_ == Time())
    last_contended_ = now;
  if (now - last_contended_ >= kMemory) balance_ = 0;
  if (load_.writes_running > 0 || load.writes_running > 0 || last_look_ == Time()) {
    last_writing_ = now;
  }
  load_ = load;
  last_look_ = now;
}

void WorkShare::Count(std::chrono::duration<double> time) {
  if (load_.reads_waiting == 0) return;
  const double reads = time.count() * static_cast<double>(load_.reads_running);
  const double writes = time.count() * static_cast<double>(load_.writes_running);
  use_.reads_seconds += reads;
  use_.writes_seconds += writes;
  constexpr double kMemorySeconds = std::chrono::duration<double>(kMemory).count();
  const double most_saved = kMemorySeconds * share_ * static_cast<double>(load_.reads_running);
  balance_ = std::clamp(balance_ + share_ * reads - (1 - share_) * writes, -kMostOwed, most_saved);
}

bool WorkShare::MayRun(Time now) {
  MutexLock lock(&mu_);
  if (load_.reads_waiting == 0 || share_ >= 1) return true;
  const double paid_in =
      share_ * static_cast<double>(load_.reads_running) + balance_ / kSpendSeconds;
  const double taken_out = (1 - share_) * static_cast<double>(load_.writes_running + 1);
  if (balance_ >= 0 && (load_.writes_running == 0 || taken_out <= paid_in)) return true;
  if (load_.writes_running == 0 && now - last_writing_ >= kLongestWait) return true;
  ++held_back_;
  return false;
}

WorkShare::Use WorkShare::use() const {
  MutexLock lock(&mu_);
  return use_;
}

int64_t WorkShare::held_back() const {
  MutexLock lock(&mu_);
  return held_back_;
}

}  // namespace vicinity

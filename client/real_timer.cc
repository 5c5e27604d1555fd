#include "client/real_timer.h"

#include <algorithm>
#include <chrono>

namespace vicinity {

RealTimer::RealTimer() : thread_([this] { Run(); }) {}

RealTimer::~RealTimer() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

Timer::Time RealTimer::Now() const { return std::chrono::steady_clock::now().time_since_epoch(); }

int64_t RealTimer::Schedule(Time when, std::function<void()> what) {
  MutexLock lock(&mu_);
  const int64_t id = next_id_++;
  times_.emplace(id, when);
  const auto at = waiting_.emplace(std::pair(when, id), std::move(what)).first;
  if (at == waiting_.begin()) changed_.NotifyAll();
  return id;
}

bool RealTimer::Cancel(int64_t id) {
  std::function<void()> dropped;  // destroyed after the lock is released
  MutexLock lock(&mu_);
  const auto time = times_.find(id);
  if (time == times_.end()) return false;
  const auto at = waiting_.find(std::pair(time->second, id));
  dropped = std::move(at->second);
  waiting_.erase(at);
  times_.erase(time);
  return true;
}

void RealTimer::Run() {
  constexpr Time kLongestWait = std::chrono::seconds(1);
  while (true) {
    std::function<void()> due;
    {
      MutexLock lock(&mu_);
      while (!stopping_ && (waiting_.empty() || waiting_.begin()->first.first > Now())) {
        const Time left = waiting_.empty() ? kLongestWait : waiting_.begin()->first.first - Now();
        changed_.WaitFor(&mu_, std::clamp(left, Time(0), kLongestWait));
      }
      if (stopping_) return;
      const auto first = waiting_.begin();
      due = std::move(first->second);
      times_.erase(first->first.second);
      waiting_.erase(first);
    }
    due();
  }
}

}  // namespace vicinity

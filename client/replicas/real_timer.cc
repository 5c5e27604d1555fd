#include "client/replicas/real_timer.h"

#include <algorithm>
#include <chrono>

namespace vicinity {
namespace {

constexpr Timer::Time kLongestWait = std::chrono::seconds(1);

}  // namespace

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
  waiting_.emplace(std::pair(when, id), std::move(what));
  if (when < looks_at_) changed_.NotifyAll();
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

bool RealTimer::IsDue() const {
  return !waiting_.empty() && waiting_.begin()->first.first <= Now();
}

void RealTimer::Sleep() {
  const Time now = Now();
  looks_at_ = now + kLongestWait;
  if (!waiting_.empty()) looks_at_ = std::min(looks_at_, waiting_.begin()->first.first);
  changed_.WaitFor(&mu_, looks_at_ - now);
  looks_at_ = Time::min();
}

void RealTimer::Run() {
  while (true) {
    std::function<void()> due;
    {
      MutexLock lock(&mu_);
      while (!stopping_ && !IsDue()) Sleep();
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

#include "tests/testing/virtual_timer.h"

#include <algorithm>

namespace vicinity::testing {

int64_t VirtualTimer::Schedule(Time when, std::function<void()> what) {
  MutexLock lock(&mu_);
  const int64_t id = next_id_++;
  times_.emplace(id, when);
  waiting_.emplace(Key(when, id), std::move(what));
  scheduled_.NotifyAll();
  return id;
}

bool VirtualTimer::Cancel(int64_t id) {
  std::function<void()> dropped;  // destroyed after the lock is released
  MutexLock lock(&mu_);
  const auto time = times_.find(id);
  if (time == times_.end()) return false;
  const auto at = waiting_.find(Key(time->second, id));
  dropped = std::move(at->second);
  waiting_.erase(at);
  times_.erase(time);
  return true;
}

bool VirtualTimer::RunNext() {
  std::function<void()> due;
  {
    MutexLock lock(&mu_);
    if (waiting_.empty()) return false;
    const auto first = waiting_.begin();
    now_ = std::max(now_.load(), first->first.first.count());
    due = std::move(first->second);
    times_.erase(first->first.second);
    waiting_.erase(first);
  }
  due();
  return true;
}

bool VirtualTimer::RunUntil(const std::function<bool()>& done, Time limit) {
  while (!done()) {
    {
      MutexLock lock(&mu_);
      if (waiting_.empty() || waiting_.begin()->first.first > limit) return false;
    }
    RunNext();
  }
  return true;
}

void VirtualTimer::WaitForOne(std::chrono::nanoseconds limit) {
  MutexLock lock(&mu_);
  if (waiting_.empty()) scheduled_.WaitFor(&mu_, limit);
}

PassingTime::PassingTime(VirtualTimer* timer)
    : timer_(timer), thread_([this] {
        while (!stopping_) {
          if (RunOne()) continue;
          // What begins schedules something, or comes by soon.
          timer_->WaitForOne(std::chrono::microseconds(100));
          std::this_thread::yield();
        }
      }) {}

bool PassingTime::RunOne() {
  MutexLock lock(&still_);
  return waiting_ > 0 && timer_->RunNext();
}

PassingTime::~PassingTime() {
  stopping_ = true;
  thread_.join();
}

}  // namespace vicinity::testing

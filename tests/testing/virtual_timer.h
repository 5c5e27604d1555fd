// Time that passes only when a test lets it: callbacks run in the order of their times, as fast as
// the machine can.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "client/replicas/timer.h"
#include "proto/common/mutex.h"

namespace vicinity::testing {

// Threads: as Timer; RunNext from one at a time. Callbacks of one time run in the order they were
// scheduled in.
class VirtualTimer : public Timer {
 public:
  Time Now() const override { return Time(now_.load()); }
  int64_t Schedule(Time when, std::function<void()> what) override;
  bool Cancel(int64_t id) override;

  // Goes on to the earliest callback and runs it; false if there is none.
  bool RunNext();
  // Runs callbacks until `done` is true, but none later than `limit`; what `done` is in the end.
  bool RunUntil(const std::function<bool()>& done, Time limit);

  // Returns when there is a callback, or at the limit.
  void WaitForOne(std::chrono::nanoseconds limit);

 private:
  using Key = std::pair<Time, int64_t>;

  std::atomic<int64_t> now_{0};
  Mutex mu_;
  CondVar scheduled_;
  int64_t next_id_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<int64_t, Time> times_ ABSL_GUARDED_BY(mu_);
  std::map<Key, std::function<void()>> waiting_ ABSL_GUARDED_BY(mu_);
};

// Lets time pass, in a thread of its own, while somebody waits for it: calls that are under way are
// counted, and when there is none time stands still, however long the machine takes meanwhile.
//
// Threads: any number. Lifetime: the timer must outlive it; its destructor joins.
class PassingTime {
 public:
  explicit PassingTime(VirtualTimer* timer);
  ~PassingTime();

  // Begins a call by `start`, during which time stands still. Not from a callback of the timer.
  template <typename Start>
  void Begin(const Start& start) {
    MutexLock lock(&still_);
    waiting_.fetch_add(1);
    start();
  }
  void End() { waiting_.fetch_sub(1); }  // from anywhere

 private:
  bool RunOne();

  VirtualTimer* const timer_;
  Mutex still_;  // held while time passes, and while a call begins
  std::atomic<int64_t> waiting_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;  // last: it uses all above
};

}  // namespace vicinity::testing

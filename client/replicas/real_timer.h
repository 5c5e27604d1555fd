// The steady clock, and one thread that runs what is due.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "client/replicas/timer.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Lifetime: the destructor waits for the callback that is running.
// Cost:     O(log n) for n callbacks that wait. The thread is woken for none that is due after the
//           time when it looks anyway, even if what it looks for then was cancelled: calls that end
//           in time, each with a callback for when it does not, wake it a few times in all.
class RealTimer : public Timer {
 public:
  RealTimer();
  ~RealTimer() override;

  Time Now() const override;
  int64_t Schedule(Time when, std::function<void()> what) override;
  bool Cancel(int64_t id) override;

 private:
  void Run();
  bool IsDue() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);  // whether anything is
  void Sleep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);        // until something may be

  Mutex mu_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  // By when the thread, if it sleeps, looks for what is due.
  Time looks_at_ ABSL_GUARDED_BY(mu_) = Time::min();
  int64_t next_id_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<int64_t, Time> times_ ABSL_GUARDED_BY(mu_);
  std::map<std::pair<Time, int64_t>, std::function<void()>> waiting_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // last: it uses all above
};

}  // namespace vicinity

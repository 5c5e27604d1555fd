// The steady clock, and one thread that runs what is due.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "client/timer.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Lifetime: the destructor waits for the callback that is running.
// Cost:     O(log n) for n callbacks that wait.
class RealTimer : public Timer {
 public:
  RealTimer();
  ~RealTimer() override;

  Time Now() const override;
  int64_t Schedule(Time when, std::function<void()> what) override;
  bool Cancel(int64_t id) override;

 private:
  void Run();

  Mutex mu_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  int64_t next_id_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<int64_t, Time> times_ ABSL_GUARDED_BY(mu_);
  std::map<std::pair<Time, int64_t>, std::function<void()>> waiting_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // last: it uses all above
};

}  // namespace vicinity

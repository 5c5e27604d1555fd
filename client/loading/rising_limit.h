// A number that work may come up to, for a while.
#pragma once

#include <chrono>
#include <cstdint>

#include "proto/common/mutex.h"

namespace vicinity {

// Threads: any number.
class RisingLimit {
 public:
  explicit RisingLimit(int64_t limit) : limit_(limit) {}

  // Waits until `position` is below the limit; false once closed.
  bool WaitFor(int64_t position) {
    MutexLock lock(&mu_);
    while (!closed_ && position >= limit_) changed_.WaitFor(&mu_, std::chrono::seconds(1));
    return !closed_;
  }

  void Raise(int64_t limit) {
    MutexLock lock(&mu_);
    limit_ = limit;
    changed_.NotifyAll();
  }

  // Ends all waiting.
  void Close() {
    MutexLock lock(&mu_);
    closed_ = true;
    changed_.NotifyAll();
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int64_t limit_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace vicinity

// A budget of bytes that batches take when they are planned and give back when they are taken.
#pragma once

#include <chrono>
#include <cstdint>

#include "proto/common/mutex.h"

namespace vicinity {

// Threads: any number.
class ByteWindow {
 public:
  explicit ByteWindow(int64_t limit) : limit_(limit) {}

  // Waits until `bytes` fit, or nothing else is inside: what is larger than the window passes
  // alone. False once closed.
  bool Take(int64_t bytes) {
    MutexLock lock(&mu_);
    while (!closed_ && inside_ > 0 && inside_ + bytes > limit_) {
      changed_.WaitFor(&mu_, std::chrono::seconds(1));
    }
    if (closed_) return false;
    inside_ += bytes;
    return true;
  }

  void Give(int64_t bytes) {
    MutexLock lock(&mu_);
    inside_ -= bytes;
    changed_.NotifyAll();
  }

  // Ends all waiting.
  void Close() {
    MutexLock lock(&mu_);
    closed_ = true;
    changed_.NotifyAll();
  }

  int64_t inside() const {
    MutexLock lock(&mu_);
    return inside_;
  }

 private:
  const int64_t limit_;
  mutable Mutex mu_;
  CondVar changed_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  int64_t inside_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity

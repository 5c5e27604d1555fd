// How many batches may be on their way, and how many bytes they may hold: taken from when they are
// planned, given back when they are taken.
#pragma once

#include <chrono>
#include <cstdint>

#include "proto/common/mutex.h"

namespace vicinity {

// Threads: any number.
class BatchWindow {
 public:
  BatchWindow(int64_t most_batches, int64_t most_bytes)
      : most_batches_(most_batches), most_bytes_(most_bytes) {}

  // Waits until a batch of `bytes` fits, or nothing else is inside: what is larger than the window
  // passes alone. False once closed.
  bool Take(int64_t bytes) {
    MutexLock lock(&mu_);
    while (!closed_ && batches_ > 0 &&
           (batches_ >= most_batches_ || bytes_ + bytes > most_bytes_)) {
      changed_.WaitFor(&mu_, std::chrono::seconds(1));
    }
    if (closed_) return false;
    ++batches_;
    bytes_ += bytes;
    return true;
  }

  // Of a batch that took them.
  void Give(int64_t bytes) {
    MutexLock lock(&mu_);
    --batches_;
    bytes_ -= bytes;
    changed_.NotifyAll();
  }

  // Ends all waiting.
  void Close() {
    MutexLock lock(&mu_);
    closed_ = true;
    changed_.NotifyAll();
  }

  int64_t bytes() const {
    MutexLock lock(&mu_);
    return bytes_;
  }

 private:
  const int64_t most_batches_;
  const int64_t most_bytes_;
  mutable Mutex mu_;
  CondVar changed_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  int64_t batches_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity

// Calls work off that nobody waits for any more: RPCs in flight end, loops between them stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "proto/common/mutex.h"

namespace vicinity {

// One owner calls Cancel(); any number of operations look at it or hear of it.
//
// Threads:  all methods from any number of threads.
// Lifetime: must outlive the operations that were given it.
class Cancellation {
 public:
  // Runs every handler that is there once, in this thread. Later calls do nothing.
  void Cancel();
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }

  // `on_cancel` runs at Cancel(), or at once if that has been. It may still be running, or run
  // once, after Remove has returned, so it must own what it touches.
  int64_t Add(std::function<void()> on_cancel);
  void Remove(int64_t id);

 private:
  std::atomic<bool> cancelled_{false};
  Mutex mu_;
  int64_t next_id_ ABSL_GUARDED_BY(mu_) = 0;
  std::unordered_map<int64_t, std::function<void()>> handlers_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity

// Between two stages of a pipeline: items come in any order and leave by rising index.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "proto/common/mutex.h"

namespace vicinity {

// Holds at most `limit` units of weight, but the item that is next always gets in: so whoever
// brings it never waits for those behind it, and nothing deadlocks.
//
// Threads: any number on both sides. Order: Pop gives first, first + 1, ..., each once.
template <typename T>
class OrderedQueue {
 public:
  // Items [first, end) will be pushed, each once.
  OrderedQueue(int64_t first, int64_t end, int64_t limit)
      : end_(end), limit_(limit), next_(first) {}

  // Waits for room. False, the item dropped, once the queue is closed.
  bool Push(int64_t index, int64_t weight, T item) {
    MutexLock lock(&mu_);
    while (!closed_ && index != next_ && weight_ + weight > limit_) {
      changed_.WaitFor(&mu_, kRecheck);
    }
    if (closed_) return false;
    weight_ += weight;
    items_.emplace(index, Item{weight, std::move(item)});
    changed_.NotifyAll();
    return true;
  }

  // Waits for the next item, no longer than `limit`. None at the end, once closed, and at the
  // limit.
  std::optional<T> Pop(std::chrono::nanoseconds limit = std::chrono::hours(24)) {
    MutexLock lock(&mu_);
    if (!WaitUntilPopReturns(limit)) return std::nullopt;
    if (closed_ || next_ >= end_) return std::nullopt;
    Item item = std::move(items_.begin()->second);
    items_.erase(items_.begin());
    weight_ -= item.weight;
    ++next_;
    changed_.NotifyAll();
    return std::move(item.value);
  }

  // Waits until all items before `index` have left. False once closed.
  bool WaitForTurn(int64_t index) {
    MutexLock lock(&mu_);
    while (!closed_ && next_ < index) changed_.WaitFor(&mu_, kRecheck);
    return !closed_;
  }

  // Whether Pop would not wait; waits for that, no longer than `limit`.
  bool WaitForNext(std::chrono::nanoseconds limit) {
    MutexLock lock(&mu_);
    return WaitUntilPopReturns(limit);
  }

  // Ends all waiting, drops what is inside.
  void Close() {
    std::map<int64_t, Item> dropped;
    MutexLock lock(&mu_);
    closed_ = true;
    dropped.swap(items_);  // destroyed after the lock is released
    changed_.NotifyAll();
  }

  // The item that leaves next: all before it have left.
  int64_t next() const {
    MutexLock lock(&mu_);
    return next_;
  }

 private:
  struct Item {
    int64_t weight;
    T value;
  };
  static constexpr std::chrono::nanoseconds kRecheck = std::chrono::seconds(1);

  // False at the limit.
  bool WaitUntilPopReturns(std::chrono::nanoseconds limit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!closed_ && next_ < end_ && !HasNext()) {
      const std::chrono::nanoseconds left = deadline - std::chrono::steady_clock::now();
      if (left.count() <= 0) return false;
      changed_.WaitFor(&mu_, left < kRecheck ? left : kRecheck);
    }
    return true;
  }

  bool HasNext() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return !items_.empty() && items_.begin()->first == next_;
  }

  const int64_t end_;
  const int64_t limit_;
  mutable Mutex mu_;
  CondVar changed_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  int64_t next_ ABSL_GUARDED_BY(mu_);
  int64_t weight_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<int64_t, Item> items_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity

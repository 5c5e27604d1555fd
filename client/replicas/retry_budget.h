// How much a client may ask beyond what it was asked: retries and hedges together.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "proto/common/mutex.h"

namespace vicinity {

// A token bucket, full at first. An extra attempt takes one token, a call that succeeds brings a
// tenth of one: in the long run at most a tenth more attempts than calls, so that a client does not
// swamp servers that are in trouble already. A second brings one, too: a client all of whose calls
// wait for a token goes on.
//
// Threads: any number.
class RetryBudget {
 public:
  explicit RetryBudget(int64_t capacity) : capacity_(capacity * kTenths), tenths_(capacity_) {}

  // False if there is no token at `now`, a time that never goes back; none is taken then.
  bool TryTake(std::chrono::nanoseconds now) {
    MutexLock lock(&mu_);
    const int64_t passed = (now - refilled_) / kForATenth;
    refilled_ += passed * kForATenth;
    tenths_ = std::min(capacity_, tenths_ + passed);
    if (tenths_ < kTenths) return false;
    tenths_ -= kTenths;
    return true;
  }

  void OnSuccess() {
    MutexLock lock(&mu_);
    tenths_ = std::min(capacity_, tenths_ + 1);
  }

 private:
  static constexpr int64_t kTenths = 10;
  static constexpr std::chrono::nanoseconds kForATenth = std::chrono::milliseconds(100);
  const int64_t capacity_;
  Mutex mu_;
  int64_t tenths_ ABSL_GUARDED_BY(mu_);
  std::chrono::nanoseconds refilled_ ABSL_GUARDED_BY(mu_){0};
};

}  // namespace vicinity

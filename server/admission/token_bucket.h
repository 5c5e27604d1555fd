// A rate limit that lets short bursts through.
#pragma once

#include <algorithm>
#include <chrono>

namespace vicinity {

// Fills at `rate` units a second, up to one second's worth. Taking more than there is leaves a
// debt, so that something larger than a second's worth passes, too, and is waited for afterwards.
//
// Threads: one at a time.
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // A rate of 0: no limit.
  TokenBucket(double rate, Time now) : rate_(rate), level_(rate), filled_(now) {}

  // How long until something may be taken; zero: now.
  std::chrono::nanoseconds WaitTime(Time now) {
    Fill(now);
    if (rate_ <= 0 || level_ > 0) return std::chrono::nanoseconds(0);
    // A nanosecond more, since at exactly zero there is nothing yet.
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::duration<double>(-level_ / rate_)) +
           std::chrono::nanoseconds(1);
  }

  void Take(double amount) { level_ -= amount; }

  // Nothing is lost if a full bucket is forgotten.
  bool IsFull(Time now) {
    Fill(now);
    return rate_ <= 0 || level_ >= rate_;
  }

 private:
  void Fill(Time now) {
    const std::chrono::duration<double> passed = now - filled_;
    filled_ = std::max(filled_, now);
    if (passed.count() > 0) level_ = std::min(rate_, level_ + passed.count() * rate_);
  }

  const double rate_;
  double level_;
  Time filled_;
};

}  // namespace vicinity

// How long calls take lately: one quantile, kept up to date at little cost.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "proto/common/mutex.h"

namespace vicinity {

// Counts in classes that grow by an eighth of a power of two, so it is right to within 10 %. When
// kWindow durations are in, all counts are halved: what is older fades.
//
// Threads: any number. Cost: O(1) to add; every 16th time O(classes).
class LatencyQuantile {
 public:
  static constexpr int64_t kWindow = 2048;
  static constexpr int64_t kFewest = 20;  // with fewer durations there is no quantile

  explicit LatencyQuantile(double quantile) : quantile_(quantile) {}

  void Add(std::chrono::nanoseconds duration);
  // The upper end of the quantile's class.
  std::optional<std::chrono::nanoseconds> Get() const;

 private:
  static constexpr int kClasses = 256;  // from 1 us on: to hours
  void Update() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const double quantile_;
  mutable Mutex mu_;
  std::array<int64_t, kClasses> counts_ ABSL_GUARDED_BY(mu_){};
  int64_t total_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t added_ ABSL_GUARDED_BY(mu_) = 0;  // since the last update
  std::optional<std::chrono::nanoseconds> value_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity

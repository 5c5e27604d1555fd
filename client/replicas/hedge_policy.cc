#include "client/replicas/hedge_policy.h"

#include <algorithm>

namespace vicinity {

std::optional<std::chrono::nanoseconds> HedgePolicy::Delay(int operation) const {
  if (!enabled_) return std::nullopt;
  const auto known = latencies_[operation].Get();
  if (!known.has_value()) return std::nullopt;
  return std::max(*known, kLeastDelay);
}

void HedgePolicy::Observe(int operation, std::chrono::nanoseconds duration) {
  latencies_[operation].Add(duration);
}

void HedgePolicy::CountCall() {
  MutexLock lock(&mu_);
  calls_ = std::min(calls_ + 1, kMaxSaved * kCallsPerHedge);
}

bool HedgePolicy::TryTake() {
  MutexLock lock(&mu_);
  if (!enabled_ || calls_ < kCallsPerHedge) return false;
  calls_ -= kCallsPerHedge;
  return true;
}

void HedgePolicy::GiveBack() {
  MutexLock lock(&mu_);
  calls_ = std::min(calls_ + kCallsPerHedge, kMaxSaved * kCallsPerHedge);
}

}  // namespace vicinity

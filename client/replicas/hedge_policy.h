// When a call that takes long is asked of a second replica, too: not before most would have
// answered, and never for many.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "client/replicas/latency_quantile.h"
#include "client/shards/shard_requests.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Threads: any number.
class HedgePolicy {
 public:
  static constexpr std::chrono::nanoseconds kLeastDelay = std::chrono::milliseconds(5);
  static constexpr int64_t kCallsPerHedge = 20;  // at most 5 % of calls are hedged

  // `enabled` false: never.
  explicit HedgePolicy(bool enabled) : enabled_(enabled) {}

  // `operation`: kRequestIndex of what is asked. From the start of an attempt to its hedge: the
  // live 95th percentile, at least kLeastDelay. None while too few have answered to know it.
  std::optional<std::chrono::nanoseconds> Delay(int operation) const;

  // How long an attempt took, or, of one that was given up, how long it has taken at least.
  void Observe(int operation, std::chrono::nanoseconds duration);

  void CountCall();
  // One hedge more, unless that is above the share of the calls.
  bool TryTake();
  void GiveBack();  // what was taken, for a hedge that did not come about

 private:
  static constexpr int64_t kMaxSaved = 10;  // hedges at once after a long time without

  const bool enabled_;
  struct Percentile95 : LatencyQuantile {
    Percentile95() : LatencyQuantile(0.95) {}
  };
  std::array<Percentile95, ShardRequests::kSize> latencies_;  // by operation
  Mutex mu_;
  int64_t calls_ ABSL_GUARDED_BY(mu_) = 0;  // not yet spent on hedges
};

}  // namespace vicinity

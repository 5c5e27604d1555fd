// When a call that takes long is asked of a second replica, too: not before most would have
// answered, and never for many.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "client/replicas/latency_quantile.h"
#include "proto/common/mutex.h"

namespace vicinity {

// What a client asks of shards.
enum class Operation { kSampleHop = 0, kFetchRows, kFetchNames, kResolveKeys, kFetchRanking };
inline constexpr int kNumOperations = 5;
const char* OperationName(Operation operation);  // as the wire calls it: "SampleNeighbors"

// Threads: any number.
class HedgePolicy {
 public:
  static constexpr std::chrono::nanoseconds kLeastDelay = std::chrono::milliseconds(5);
  static constexpr int64_t kCallsPerHedge = 20;  // at most 5 % of calls are hedged

  // `enabled` false: never.
  explicit HedgePolicy(bool enabled) : enabled_(enabled) {}

  // From the start of an attempt to its hedge: the live 95th percentile, at least kLeastDelay. None
  // while too few have answered to know it.
  std::optional<std::chrono::nanoseconds> Delay(Operation operation) const;

  // How long an attempt took, or, of one that was given up, how long it has taken at least.
  void Observe(Operation operation, std::chrono::nanoseconds duration);

  void CountCall();
  // One hedge more, unless that is above the share of the calls.
  bool TryTake();
  void GiveBack();  // what was taken, for a hedge that did not come about

 private:
  static constexpr int64_t kMostSaved = 10;  // hedges at once after a long time without

  const bool enabled_;
  std::array<LatencyQuantile, kNumOperations> latencies_{
      LatencyQuantile(0.95), LatencyQuantile(0.95), LatencyQuantile(0.95), LatencyQuantile(0.95),
      LatencyQuantile(0.95)};
  Mutex mu_;
  int64_t calls_ ABSL_GUARDED_BY(mu_) = 0;  // not yet spent on hedges
};

}  // namespace vicinity

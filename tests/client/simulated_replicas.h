// Servers that hold replicas of shards, in this process and in virtual time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/replicas/hedge_policy.h"
#include "client/replicas/jitter.h"
#include "client/replicas/replica_call.h"
#include "client/replicas/replica_server.h"
#include "client/replicas/replica_set.h"
#include "client/replicas/replicated_shard.h"
#include "client/replicas/retry_budget.h"
#include "client/replicas/retry_policy.h"
#include "client/shards/shard_access.h"
#include "client/shards/traffic.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/simulated_shard.h"
#include "tests/testing/virtual_timer.h"

namespace vicinity::testing {

struct ReplicaWorld {
  // What becomes of a call to a server, and of a probe (question 0).
  using Fates = std::function<Fate(int server, uint64_t question)>;
  static constexpr int64_t kTokens = 10;
  static constexpr uint64_t kProbe = 0;

  int num_servers = 2;
  uint64_t seed = 1;
  RetryPolicy policy;
  bool hedge = true;
  Fates fates;
};

// Servers are named "s0", "s1", ...
//
// Lifetime: `timer` must outlive it, and it the shards made from it.
class SimulatedReplicas {
 public:
  SimulatedReplicas(const ReplicaWorld& world, Timer* timer)
      : world_(world), jitter_(world.seed), budget_(ReplicaWorld::kTokens), hedging_(world.hedge) {
    tools_.replicas = {timer, &jitter_, &traffic_};
    tools_.policy = world.policy;
    tools_.budget = &budget_;
    tools_.hedging = &hedging_;
    for (int s = 0; s < world.num_servers; ++s) {
      servers_.push_back(std::make_unique<ReplicaServer>(
          absl::StrCat("s", s), ReplicaServer::Options(), tools_.replicas,
          [this, timer, s](Cancellation* cancel, Done done) {
            Probe(s, timer, cancel, std::move(done));
          }));
      servers_.back()->Start();
    }
  }

  const CallTools& tools() const { return tools_; }
  TrafficStats traffic() const { return traffic_.Read(); }
  ReplicaServer& server(int s) { return *servers_[s]; }

  // `near`, which answers for all of them, must outlive what comes back.
  std::vector<ShardReplica> Replicas(ShardAccess* near, const std::vector<int>& servers) {
    std::vector<ShardReplica> replicas;
    for (const int s : servers) {
      replicas.push_back({servers_[s].get(),
                          std::make_unique<SimulatedShard>(
                              near, tools_.replicas.timer,
                              [this, s](uint64_t question) { return world_.fates(s, question); })});
    }
    return replicas;
  }
  std::unique_ptr<ShardAccess> Replicate(ShardId shard, ShardAccess* near,
                                         const std::vector<int>& servers) {
    return MakeReplicatedShard(shard, Replicas(near, servers), 2, tools_);
  }

 private:
  // As a call that has a second to answer.
  void Probe(int s, Timer* timer, Cancellation* cancel, Done done) {
    constexpr std::chrono::seconds kProbeTimeout(1);
    Fate fate = world_.fates(s, ReplicaWorld::kProbe);
    if (fate.lost || fate.delay > kProbeTimeout) {
      fate.delay = kProbeTimeout;
      fate.status = absl::DeadlineExceededError(absl::StrCat("s", s, ": Hello: no answer"));
    }
    // Both ends may want to call `done`; the first does.
    auto over = std::make_shared<std::atomic<bool>>(false);
    const Done once = [over, done = std::move(done)](const absl::Status& status) {
      if (!over->exchange(true)) done(status);
    };
    timer->Schedule(timer->Now() + fate.delay, [once, status = fate.status] { once(status); });
    cancel->Add([once] { once(absl::CancelledError("probe")); });
  }

  const ReplicaWorld world_;
  Jitter jitter_;
  TrafficCounters traffic_;
  RetryBudget budget_;
  HedgePolicy hedging_;
  CallTools tools_;
  std::vector<std::unique_ptr<ReplicaServer>> servers_;  // last: their probes use all above
};

}  // namespace vicinity::testing

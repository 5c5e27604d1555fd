// The replicas of one shard, and which of them to ask next.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/replicas/replica_server.h"
#include "client/replicas/timer.h"
#include "client/shards/shard_access.h"
#include "proto/common/ids.h"

namespace vicinity {

// A shard on one server.
struct ShardReplica {
  ReplicaServer* server = nullptr;  // outlives it; others of its shards share it
  std::unique_ptr<ShardAccess> access;
};

// Threads: any number.
class ReplicaSet {
 public:
  static constexpr int kNone = -1;

  // At least one replica.
  ReplicaSet(ShardId shard, std::vector<ShardReplica> replicas);

  ShardId shard() const { return shard_; }
  int size() const { return static_cast<int>(copies_.size()); }
  ReplicaServer& server(int i) const { return *copies_[i].replica.server; }
  ShardAccess& access(int i) const { return *copies_[i].replica.access; }

  // The one with the fewest bytes in flight, in turn where several have, of those that are live and
  // have not asked to be left alone. `tried[i]` says that the call has failed there already: such
  // are taken only if there is no other, those that are about to stop only if no other is live, and
  // those whose copy was found damaged only if no other is left at all. `except` is never taken,
  // and beside it none that is about to stop. kNone if none can be.
  int Pick(absl::Span<const char> tried, int except, Timer::Time now);
  // Of a question that only the shard's writer can answer: who answered the last one, if it can be
  // asked and was not tried; else as Pick.
  int PickWriter(absl::Span<const char> tried, Timer::Time now);
  void OnWriter(int i) { writer_.store(i, std::memory_order_relaxed); }

  // Why none of them will ever answer: another dataset has taken this one's place at all of them.
  // OK: one of them may.
  absl::Status Replaced() const;

  // Replica i's copy of the shard gave damaged rows: it is avoided for a pause that doubles while
  // nothing good comes from it. Its other shards may be sound.
  void OnDamage(int i, Timer::Time now);
  void OnSound(int i);

 private:
  static constexpr std::chrono::nanoseconds kFirstPause = std::chrono::milliseconds(100);
  static constexpr std::chrono::nanoseconds kLongestPause = std::chrono::seconds(30);

  struct Copy {
    ShardReplica replica;
    std::atomic<int64_t> avoided_until{0};  // Timer::Time
    std::atomic<int> damages{0};            // in a row
  };

  const ShardId shard_;
  std::vector<Copy> copies_;
  std::atomic<uint32_t> turn_{0};
  std::atomic<int> writer_{kNone};  // who was it last
};

}  // namespace vicinity

#include "client/replicas/replica_set.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace vicinity {

ReplicaSet::ReplicaSet(ShardId shard, std::vector<ShardReplica> replicas)
    : shard_(shard), copies_(replicas.size()) {
  for (size_t i = 0; i < replicas.size(); ++i) copies_[i].replica = std::move(replicas[i]);
}

int ReplicaSet::Pick(absl::Span<const char> tried, int except, Timer::Time now) {
  const uint32_t turn = turn_.fetch_add(1, std::memory_order_relaxed);
  int best = kNone;
  std::tuple<bool, bool, bool, int64_t> best_rank;
  for (int k = 0; k < size(); ++k) {
    const int i = static_cast<int>((turn + static_cast<uint32_t>(k)) % copies_.size());
    const ReplicaServer& server = *copies_[i].replica.server;
    if (i == except || !server.live() || server.held_until() > now) continue;
    const bool stopping = server.stopping();
    if (stopping && except != kNone) continue;
    const bool damaged = copies_[i].avoided_until.load() > now.count();
    const std::tuple<bool, bool, bool, int64_t> rank(damaged, stopping, tried[i] != 0,
                                                     server.bytes_in_flight());
    if (best == kNone || rank < best_rank) {
      best = i;
      best_rank = rank;
    }
  }
  return best;
}

int ReplicaSet::PickWriter(absl::Span<const char> tried, Timer::Time now) {
  const int writer = writer_.load(std::memory_order_relaxed);
  if (writer != kNone && tried[writer] == 0 && server(writer).live() &&
      server(writer).held_until() <= now) {
    return writer;
  }
  return Pick(tried, kNone, now);
}

absl::Status ReplicaSet::Replaced() const {
  const bool all = std::all_of(copies_.begin(), copies_.end(),
                               [](const Copy& copy) { return copy.replica.server->replaced(); });
  return all ? server(0).last_error() : absl::OkStatus();
}

void ReplicaSet::OnDamage(int i, Timer::Time now) {
  std::chrono::nanoseconds pause = kFirstPause;
  const int damages = copies_[i].damages.fetch_add(1);
  for (int k = 0; k < damages && pause < kLongestPause; ++k) pause *= 2;
  copies_[i].avoided_until = (now + std::min(pause, kLongestPause)).count();
}

void ReplicaSet::OnSound(int i) {
  if (copies_[i].damages.load(std::memory_order_relaxed) != 0) copies_[i].damages = 0;
}

}  // namespace vicinity

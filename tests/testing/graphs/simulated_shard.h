// A shard that is here but answers as if it were behind a server and a network, in virtual time:
// late, with an error, with damage, or never.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "client/replicas/timer.h"
#include "client/shards/shard_access.h"

namespace vicinity::testing {

// What becomes of one call.
struct Fate {
  Timer::Time delay = std::chrono::milliseconds(1);  // until the answer
  absl::Status status;                               // an error instead of the answer
  bool lost = false;                                 // nothing comes, ever
};

// A call that fails or is cancelled leaves garbage where its answer would have gone, as calls that
// break off may.
//
// Threads:  as ShardAccess; answers come in the timer's thread.
// Lifetime: `near`, which answers at once, and `timer` must outlive it.
class SimulatedShard final : public AnswersAlike<SimulatedShard> {
 public:
  // `question` is a digest of all that a call asks. May be called from any thread.
  using Decide = std::function<Fate(uint64_t question)>;

  SimulatedShard(ShardAccess* near, Timer* timer, Decide decide);

  bool remote() const override { return true; }
  template <typename Request>
  void AskAny(const Request& request, const CallContext& context, Done done) {
    Run(
        DigestOf(request),
        [this, request](Done then) { near_->Ask(request, nullptr, std::move(then)); },
        [request] { Spoil(request); }, context, std::move(done));
  }

 private:
  static uint64_t DigestOf(const ShardHop& hop);
  static uint64_t DigestOf(const ShardRows& rows);
  static uint64_t DigestOf(const ShardRagged& ragged);
  static uint64_t DigestOf(const ShardFind& find);
  static uint64_t DigestOf(const ShardKeys& keys);
  static uint64_t DigestOf(const ShardDegrees& degrees);
  static uint64_t DigestOf(const ShardEdgeIds& pairs);
  static uint64_t DigestOf(const ShardWalks& walks);
  static uint64_t DigestOf(const ShardRanking& ranking);
  static uint64_t DigestOf(const ShardWrite& write);
  static uint64_t DigestOf(const ShardBarrier& barrier);
  static uint64_t DigestOf(const ShardChanges& changes);
  // Leaves garbage where the answer would go.
  static void Spoil(const ShardHop& hop);
  static void Spoil(const ShardRows& rows);
  static void Spoil(const ShardRagged& ragged);
  static void Spoil(const ShardFind& find);
  static void Spoil(const ShardKeys& keys);
  static void Spoil(const ShardDegrees& degrees);
  static void Spoil(const ShardEdgeIds& pairs);
  static void Spoil(const ShardWalks& walks);
  static void Spoil(const ShardRanking& ranking);
  static void Spoil(const ShardWrite& write);
  static void Spoil(const ShardBarrier& barrier);
  static void Spoil(const ShardChanges& changes);
  void Run(uint64_t question, std::function<void(Done)> answer, std::function<void()> spoil,
           const CallContext& context, Done done);

  ShardAccess* const near_;
  Timer* const timer_;
  const Decide decide_;
};

}  // namespace vicinity::testing

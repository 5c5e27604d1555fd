// A shard that is here but answers as if it were behind a server and a network, in virtual time:
// late, with an error, with damage, or never.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

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
class SimulatedShard : public ShardAccess {
 public:
  // `question` is a digest of all that a call asks. May be called from any thread.
  using Decide = std::function<Fate(uint64_t question)>;

  SimulatedShard(ShardAccess* near, Timer* timer, Decide decide);

  bool remote() const override { return true; }
  void SampleHop(const ShardHop& hop, absl::Span<Neighbors> out, Cancellation* cancel,
                 Done done) override;
  void FetchRows(const ShardRows& rows, Cancellation* cancel, Done done) override;
  void FetchNames(const ShardNames& names, Cancellation* cancel, Done done) override;
  void ResolveKeys(const ShardKeys& keys, Cancellation* cancel, Done done) override;
  void FetchRanking(const ShardRanking& ranking, Cancellation* cancel, Done done) override;

 private:
  void Run(uint64_t question, std::function<void(Done)> answer, std::function<void()> spoil,
           Cancellation* cancel, Done done);

  ShardAccess* const near_;
  Timer* const timer_;
  const Decide decide_;
};

}  // namespace vicinity::testing

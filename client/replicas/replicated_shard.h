// A shard that one or several servers hold, as one: whoever asks it does not notice which of them
// answers, nor, as long as one does, that others fail.
//
// How calls are spread, repeated and hedged: client/replicas/replica_call.h. What a reader may rely
// on: docs/guarantees.md.
#pragma once

#include <cstdint>
#include <vector>

#include "client/replicas/replica_call.h"
#include "client/replicas/replica_set.h"
#include "client/shards/shard_access.h"
#include "proto/common/ids.h"

namespace vicinity {

// Rows, names and keys are asked for in parts of at most 32 MiB, each a call for itself with its
// own attempts, so that what fails late is not all asked again.
//
// Lifetime: what `tools` points to, and the servers, must outlive it.
// Errors:   as ShardAccess and ReplicaCall.
class ReplicatedShard : public ShardAccess {
 public:
  // At least one replica. At most `width` parts of one request are under way at once.
  ReplicatedShard(ShardId shard, std::vector<ShardReplica> replicas, int width,
                  const CallTools& tools);

  bool remote() const override { return true; }
  void SampleHop(const ShardHop& hop, absl::Span<Neighbors> out, Cancellation* cancel,
                 Done done) override;
  void FetchRows(const ShardRows& rows, Cancellation* cancel, Done done) override;
  void FetchNames(const ShardNames& names, Cancellation* cancel, Done done) override;
  void ResolveKeys(const ShardKeys& keys, Cancellation* cancel, Done done) override;
  void FetchRanking(const ShardRanking& ranking, Cancellation* cancel, Done done) override;

 private:
  void Call(ReplicaQuestion question, Cancellation* cancel, Done done);
  // `count` elements, at most `most` in one call.
  template <typename Request>
  void CallInParts(const Request& request, int64_t count, int64_t most, Cancellation* cancel,
                   Done done);

  ReplicaSet set_;
  const int width_;
  const CallTools tools_;
};

}  // namespace vicinity

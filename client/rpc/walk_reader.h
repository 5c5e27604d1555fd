// Reads the stream that answers one WalkRequest, and believes nothing of it.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "client/shards/shard_requests.h"
#include "client/shards/traffic.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"
#include "proto/service.pb.h"
#include "proto/sliced_message.h"
#include "sampler/shard_walks.h"

namespace vicinity {

// Puts the steps that the chunks hold where the walks' request says.
//
// Threads: one at a time. Lifetime: all but the request, and what that points to, outlive it.
class WalkReader {
 public:
  WalkReader(const ShardWalks& walks, const Schema& schema, const Book& book,
             TrafficCounters* traffic);

  // Internal, with the value, for a chunk out of order, of no walks or more than were asked for,
  // with counts that do not match its nodes or are more than a walk had left, or with a node that
  // does not exist. Of `chunk` the arrays are left out: they are in `arrays`.
  absl::Status Add(const proto::WalkChunk& chunk, const SlicedMessage& arrays);

  // After the last chunk: Internal if a walk was left out.
  absl::Status Finish() const;

 private:
  static absl::Status ReadSteps(const ShardWalks& walks, const SlicedMessage& arrays,
                                WalkedSteps* made);
  absl::Status CheckNodes(const ShardWalks& walks, const WalkedSteps& made) const;

  const ShardWalks walks_;
  const Schema& schema_;
  const Book& book_;
  TrafficCounters* const traffic_;
  int64_t answered_ = 0;  // walks
};

}  // namespace vicinity

// Reads the stream that answers one RaggedRequest, and believes nothing of it.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "client/shards/shard_requests.h"
#include "client/shards/traffic.h"
#include "proto/service.pb.h"
#include "proto/sliced_message.h"

namespace vicinity {

// Puts the rows of a request where they belong as they come.
//
// Threads: one at a time. Lifetime: `traffic`, and what `rows` points to, must outlive it.
class RaggedReader {
 public:
  RaggedReader(const ShardRagged& rows, TrafficCounters* traffic);

  // Of `chunk` the bulk fields are left out: they are in `message`. Internal, with the values, for
  // rows that are not next, too many, or not as long together as they are said to be.
  absl::Status Add(const proto::RaggedChunk& chunk, const SlicedMessage& message);

  // After the last chunk: Internal if rows are missing.
  absl::Status Finish() const;

 private:
  const ShardRagged rows_;
  const int64_t num_rows_;
  TrafficCounters* const traffic_;
  int64_t received_ = 0;
};

}  // namespace vicinity

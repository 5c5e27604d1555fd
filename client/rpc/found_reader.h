// Reads the stream that answers one FindRequest, and believes nothing of it.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "client/shards/shard_requests.h"
#include "client/shards/traffic.h"
#include "proto/service.pb.h"
#include "proto/sliced_message.h"

namespace vicinity {

// Adds rows to the place of a request, which has one, as they come.
//
// Threads: one at a time. Lifetime: `traffic` and the place must outlive it.
class FoundReader {
 public:
  FoundReader(const ShardFind& find, TrafficCounters* traffic);

  // Of `chunk` the bulk field is left out: it is in `message`. Internal, with the values, for rows
  // that do not rise or that the chunk has not looked at, and for one that looks at none, at more
  // than are left, or reads more than it looks at.
  absl::Status Add(const proto::FindChunk& chunk, const SlicedMessage& message);

  // After the last chunk: Internal if rows have not been looked at.
  absl::Status Finish() const;

 private:
  absl::Status CheckRows(size_t before, uint64_t begin, uint64_t end) const;

  const uint64_t first_;
  const uint64_t count_;
  FoundRows* const found_;
  TrafficCounters* const traffic_;
  uint64_t looked_ = 0;
};

}  // namespace vicinity

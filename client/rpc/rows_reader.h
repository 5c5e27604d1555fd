// Reads the stream that answers one RowsRequest, and believes nothing of it.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "client/shards/shard_requests.h"
#include "client/shards/traffic.h"
#include "proto/service.pb.h"
#include "proto/sliced_message.h"

namespace vicinity {

// Puts the rows of a request where they belong as they come, float32 again if they were narrowed on
// the way.
//
// Threads: one at a time. Lifetime: `traffic`, and what `rows` points to, must outlive it.
class RowsReader {
 public:
  RowsReader(const ShardRows& rows, proto::Precision precision, TrafficCounters* traffic);

  // Of `chunk` the rows are left out: they are `wire`. Internal, with the values, for rows that are
  // not next, not whole, too many, or of another precision than was asked for.
  absl::Status Add(const proto::RowsChunk& chunk, const SlicedBytes& wire);

  // After the last chunk: Internal if rows are missing.
  absl::Status Finish() const;

 private:
  char* Place(int64_t i) const;  // where row i goes
  void Widen(int64_t count, const SlicedBytes& wire);

  const ShardRows rows_;
  const int64_t num_rows_;
  const proto::Precision precision_;
  const int64_t wire_row_bytes_;
  TrafficCounters* const traffic_;
  int64_t received_ = 0;
};

}  // namespace vicinity

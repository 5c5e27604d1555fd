// Reads the stream that answers one SampleRequest, and believes nothing of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "proto/service.pb.h"
#include "proto/sliced_message.h"
#include "sampler/one_hop.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// What one relation of the request asked for.
struct ExpectedRelation {
  int64_t num_targets = 0;
  int64_t fanout = 0;       // > 0, or kAllNeighbors
  int64_t num_sources = 0;  // nodes of the source type: every global id is below
  bool by_time = false;     // edges have their times, if these are asked for
  Neighbors* out = nullptr;
};

// Appends to each relation's `out` what the chunks hold.
//
// Threads: one at a time. Lifetime: the outs must outlive it.
class SampleReader {
 public:
  SampleReader(std::vector<ExpectedRelation> relations, EdgeDetail detail);

  // Internal, with the value, for a chunk out of order, of other targets than were asked for, with
  // counts that do not match its neighbours, more of them than the fanout, or one that does not
  // exist.
  // Of `chunk` the arrays are left out: they are in `arrays`.
  absl::Status Add(const proto::SampleChunk& chunk, const SlicedMessage& arrays);

  // After the last chunk: Internal if a target, or the rest of one, was left out.
  absl::Status Finish() const;

 private:
  // Where the chunk goes on: sets `current_`, checks that it is next.
  absl::Status Locate(const proto::SampleChunk& chunk);
  absl::Status AddCounts(const proto::SampleChunk& chunk, const SlicedMessage& arrays);
  absl::Status AddSources(const SlicedMessage& arrays);

  const std::vector<ExpectedRelation> relations_;
  const EdgeDetail detail_;
  size_t current_ = 0;
  int64_t targets_ = 0;  // answered of the current relation
  bool more_ = false;    // the last of them goes on
};

}  // namespace vicinity

// One shard's part of a hop, cut into requests that its server accepts.
#pragma once

#include <cstdint>
#include <vector>

#include "client/shards/shard_requests.h"

namespace vicinity {

// What one request to a server may hold, its own limits and message sizes taken together.
struct RequestLimits {
  int64_t max_ids = 0;
  int64_t max_sampled = 0;  // targets x fanout, summed over relations; all neighbours count as 1
};

// What one SampleRequest asks: ranges of the hop's targets, each along all edge types that end
// there.
struct SamplePiece {
  struct Range {
    int64_t first = 0;
    int64_t count = 0;
    std::vector<int> relations;  // positions in the hop, all of the same targets
  };
  std::vector<Range> ranges;
};

// Cuts a hop into requests within the limits, in the order of its targets; where those have trees
// or times, so many fewer to a request that it is no larger; and of excluded edges no more than go
// into one. A target whose fanouts alone are beyond
// them gets a request of its own, for the server to refuse.
std::vector<SamplePiece> CutHop(const ShardHop& hop, const RequestLimits& limits);

}  // namespace vicinity

// A dataset on disk, routed without any server.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "client/shards/shard_router.h"
#include "client/shards/traffic.h"
#include "partition/dataset/dataset.h"
#include "tests/client/far_shard.h"

namespace vicinity::testing {

// Its shards in `far` are behind a FarShard each, the others mapped. All arguments must outlive it.
std::unique_ptr<ShardRouter> RouteDataset(const Dataset& dataset, absl::Span<const int32_t> far,
                                          TrafficCounters* traffic, Faults* faults);

}  // namespace vicinity::testing

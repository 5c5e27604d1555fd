// Which edges of a graph are there for a VIP analysis, where sampling draws among some alone.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"

namespace vicinity {

// Of a shard's edges of a type, by position: 0 for those that are never drawn, as if they were not
// there. Empty: all are there. One thread asks, once for each type and shard; errors end the
// analysis.
using EdgeFilter = std::function<absl::StatusOr<std::vector<uint8_t>>(EdgeTypeId, const Shard&)>;

}  // namespace vicinity

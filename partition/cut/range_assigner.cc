#include "partition/cut/range_assigner.h"

#include <vector>

#include "partition/cut/node_facts.h"
#include "proto/common/status.h"

namespace vicinity {

WorkEstimate RangeAssigner::Estimate(const Dataset& dataset, int32_t /*num_shards*/) const {
  WorkEstimate estimate;
  estimate.memory_bytes = NumNodes(dataset) * static_cast<int64_t>(sizeof(int32_t));
  return estimate;
}

absl::StatusOr<Assignment> RangeAssigner::Assign(const Dataset& dataset, int32_t num_shards,
                                                 Progress* /*progress*/) {
  VICINITY_RETURN_IF_ERROR(CheckAssignable(dataset, num_shards));
  Assignment assignment = MakeAssignment(dataset, num_shards);
  for (std::vector<int32_t>& shard_of : assignment.shard_of) {
    const __int128 count = static_cast<__int128>(shard_of.size());
    for (size_t node = 0; node < shard_of.size(); ++node) {
      // 128 bits: nodes times shards may exceed 64.
      shard_of[node] = static_cast<int32_t>(static_cast<__int128>(node) * num_shards / count);
    }
  }
  return assignment;
}

}  // namespace vicinity

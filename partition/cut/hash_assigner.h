// Shards by a hash of the node's key: even, blind to edges, the same for any order of the nodes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "partition/cut/assigner.h"

namespace vicinity {

// A node keeps its shard when other nodes come or go. Cost: one hash a node.
class HashAssigner : public Assigner {
 public:
  std::string name() const override { return "hash"; }
  WorkEstimate Estimate(const Dataset& dataset, int32_t num_shards) const override;
  absl::StatusOr<Assignment> Assign(const Dataset& dataset, int32_t num_shards,
                                    Progress* progress) override;
};

}  // namespace vicinity

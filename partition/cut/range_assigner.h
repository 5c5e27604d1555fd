// Shards by position: the first nodes of every type to shard 0, and so on. Good where the user's
// order already keeps neighbours together, as in crawls; and the cheapest of all.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "partition/cut/assigner.h"

namespace vicinity {

// Shard sizes of a type differ by one node at most.
class RangeAssigner : public Assigner {
 public:
  std::string name() const override { return "range"; }
  WorkEstimate Estimate(const Dataset& dataset, int32_t num_shards) const override;
  absl::StatusOr<Assignment> Assign(const Dataset& dataset, int32_t num_shards,
                                    Progress* progress) override;
};

}  // namespace vicinity

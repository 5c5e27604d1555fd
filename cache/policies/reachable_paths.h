// Reachable paths: how many ways lead from the seeds to a node.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "cache/policies/policy.h"
#include "cache/policies/trainer_view.h"

namespace vicinity {

// "reachable-paths": nodes by how many ways lead to them from the seeds, where in every hop one
// stays or takes an edge (SALIENT++'s baseline of the name). Errors as
// TrainerView::SpreadToSources.
absl::StatusOr<std::unique_ptr<Policy>> MakeReachablePathsPolicy(const TrainerView& view);

}  // namespace vicinity

// Epochs run through a planner, without any rows: what policies that change as they go are counted
// with.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "cache/pool/look_ahead_planner.h"

namespace vicinity {

// Batches are admitted as soon as the one that is `depth` before them is released, and announced
// `window` batches before they are admitted: `window` batches wait sampled, `depth` are in flight.
// Errors as the planner's.
absl::StatusOr<PolicyCount> Replay(const AccessTrace& trace, int depth, int64_t window,
                                   LookAheadPlanner* planner);

}  // namespace vicinity

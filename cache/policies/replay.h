// Epochs run through a planner, without any rows: what policies that change as they go are counted
// with.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "cache/look_ahead_planner.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"

namespace vicinity {

// Batches are admitted as soon as one that is `depth` before them is released. They are announced
// `window` batches ahead: when batch b is admitted those up to b + window - depth are known. So a
// window of `depth` knows nothing but what is in flight; smaller ones are taken as that.
// Errors as the planner's.
absl::StatusOr<PolicyCount> Replay(const AccessTrace& trace, int depth, int64_t window,
                                   LookAheadPlanner* planner);

}  // namespace vicinity

// Halo: what lies just beyond the home shards.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "cache/policies/policy.h"
#include "cache/policies/trainer_view.h"

namespace vicinity {

// "halo": remote sources of edges into the home shards, those of most such edges first; nothing
// else, whatever the capacity. Errors as TrainerView::SpreadToSources.
absl::StatusOr<std::unique_ptr<Policy>> MakeHaloPolicy(const TrainerView& view);

}  // namespace vicinity

// Degree: nodes that most neighbour lists name are needed most often, whoever asks.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "cache/policies/policy.h"
#include "cache/policies/trainer_view.h"

namespace vicinity {

// "degree": nodes that a trainer can reach at all, by how many in-neighbour lists of the followed
// edge types name them. Errors as TrainerView::SpreadToSources.
absl::StatusOr<std::unique_ptr<Policy>> MakeDegreePolicy(const TrainerView& view);

}  // namespace vicinity

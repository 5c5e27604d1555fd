// Random walk: where those are found who walk from the seeds at random, as reverse PageRank has it.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "cache/policies/policy.h"
#include "cache/policies/trainer_view.h"

namespace vicinity {

// "random-walk": nodes by the walkers there, of whom each seed has one to begin with. In every hop
// each stays, and sends one more to an in-neighbour drawn uniformly, whatever the fanout
// (SALIENT++'s baseline of the name). Errors as TrainerView::SpreadToSources.
absl::StatusOr<std::unique_ptr<Policy>> MakeRandomWalkPolicy(const TrainerView& view);

}  // namespace vicinity

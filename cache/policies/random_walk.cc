#include "cache/policies/random_walk.h"

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<std::unique_ptr<Policy>> MakeRandomWalkPolicy(const TrainerView& view) {
  std::vector<double> walkers = view.SeedMarks();
  for (int hop = 0; hop < view.options().sampling.num_hops(); ++hop) {
    std::vector<double> each = view.InDegrees(view.Followed(hop));
    for (size_t node = 0; node < each.size(); ++node) {
      each[node] = each[node] > 0 ? walkers[node] / each[node] : 0;
    }
    VICINITY_RETURN_IF_ERROR(view.SpreadToSources(view.Followed(hop), each, &walkers));
  }
  view.KeepRemote(&walkers);
  return std::make_unique<StaticOrder>("random-walk", OrderByScore(walkers));
}

}  // namespace vicinity

#include "cache/policies/reachable_paths.h"

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<std::unique_ptr<Policy>> MakeReachablePathsPolicy(const TrainerView& view) {
  std::vector<double> num_paths = view.SeedMarks();
  for (int hop = 0; hop < view.options().sampling.num_hops(); ++hop) {
    const std::vector<double> from = num_paths;
    VICINITY_RETURN_IF_ERROR(view.SpreadToSources(view.Followed(hop), from, &num_paths));
  }
  view.KeepRemote(&num_paths);
  return std::make_unique<StaticOrder>("reachable-paths", OrderByScore(num_paths));
}

}  // namespace vicinity

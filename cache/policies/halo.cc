#include "cache/policies/halo.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<std::unique_ptr<Policy>> MakeHaloPolicy(const TrainerView& view) {
  std::vector<double> is_near(view.num_nodes());
  for (int64_t node = 0; node < view.num_nodes(); ++node) is_near[node] = !view.is_remote(node);
  std::vector<double> scores(view.num_nodes());
  VICINITY_RETURN_IF_ERROR(view.SpreadToSources(view.FollowedByAny(), is_near, &scores));
  view.KeepRemote(&scores);
  return std::make_unique<StaticOrder>("halo", OrderByScore(scores));
}

}  // namespace vicinity

#include "cache/policies/degree.h"

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<std::unique_ptr<Policy>> MakeDegreePolicy(const TrainerView& view) {
  std::vector<double> scores(view.num_nodes());
  VICINITY_RETURN_IF_ERROR(view.SpreadToSources(view.FollowedByAny(),
                                                std::vector<double>(view.num_nodes(), 1), &scores));
  std::vector<double> reached = view.SeedMarks();
  for (int hop = 0; hop < view.options().sampling.num_hops(); ++hop) {
    const std::vector<double> from = reached;
    VICINITY_RETURN_IF_ERROR(view.SpreadToSources(view.Followed(hop), from, &reached));
    for (double& mark : reached) mark = mark > 0;
  }
  for (size_t node = 0; node < scores.size(); ++node) scores[node] *= reached[node];
  view.KeepRemote(&scores);
  return std::make_unique<StaticOrder>("degree", OrderByScore(scores));
}

}  // namespace vicinity

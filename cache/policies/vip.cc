#include "cache/policies/vip.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "cache/vip/vip.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<std::unique_ptr<StaticOrder>> MakeVipPolicy(const TrainerView& view) {
  VICINITY_ASSIGN_OR_RETURN(const VipScores scores, ComputeVip(view.dataset(), {view.seeds()},
                                                               view.options(), NoProgress()));
  std::vector<double> flat;
  flat.reserve(view.num_nodes());
  for (const std::vector<float>& of_type : scores.values) {
    flat.insert(flat.end(), of_type.begin(), of_type.end());
  }
  view.KeepRemote(&flat);
  return std::make_unique<StaticOrder>("vip", OrderByScore(flat));
}

}  // namespace vicinity

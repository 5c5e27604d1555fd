// VIP: by the probability that a minibatch needs the node (cache/vip/vip.h).
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"

namespace vicinity {

// "vip". Errors as ComputeVip.
absl::StatusOr<std::unique_ptr<StaticOrder>> MakeVipPolicy(const TrainerView& view);

}  // namespace vicinity

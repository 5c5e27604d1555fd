// VIP: by the probability that a minibatch needs the node (cache/vip.h).
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"

namespace vicinity {

// "vip". Errors as ComputeVip.
absl::StatusOr<std::unique_ptr<StaticOrder>> MakeVipPolicy(const TrainerView& view);

// "vip-shared": the same, of a vip policy's order, with batches in flight that share what they
// fetched (static_order.h).
std::unique_ptr<Policy> MakeVipSharedPolicy(const StaticOrder& vip);

}  // namespace vicinity

// Every policy there is, for a table of them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"

namespace vicinity {

// From the simplest to the one that knows all. `simulated` and `trace`: epochs of the trainer, the
// first for the policy that simulates, the second for the oracle, to be counted on. `windows`: of
// the next-use policies. `ranking`: one more, behind "vip", which lru and next-use begin with and
// go by beyond what they foresee; null: they go by "vip". Errors as the policies'.
absl::StatusOr<std::vector<std::unique_ptr<Policy>>> MakeAllPolicies(
    const TrainerView& view, const AccessTrace& simulated, const AccessTrace& trace,
    absl::Span<const int64_t> windows, std::unique_ptr<StaticOrder> ranking = nullptr);

}  // namespace vicinity

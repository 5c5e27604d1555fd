#include "cache/policies/all_policies.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/belady.h"
#include "cache/policies/degree.h"
#include "cache/policies/halo.h"
#include "cache/policies/lru.h"
#include "cache/policies/next_use.h"
#include "cache/policies/none.h"
#include "cache/policies/oracle.h"
#include "cache/policies/policy.h"
#include "cache/policies/random_walk.h"
#include "cache/policies/reachable_paths.h"
#include "cache/policies/simulated_frequency.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "cache/policies/vip.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<std::vector<std::unique_ptr<Policy>>> MakeAllPolicies(
    const TrainerView& view, const AccessTrace& simulated, const AccessTrace& trace,
    absl::Span<const int64_t> windows, std::unique_ptr<StaticOrder> ranking) {
  std::vector<std::unique_ptr<Policy>> policies;
  const auto add = [&](std::unique_ptr<Policy> policy) { policies.push_back(std::move(policy)); };
  add(MakeNoPolicy());
  for (const auto make :
       {MakeHaloPolicy, MakeDegreePolicy, MakeReachablePathsPolicy, MakeRandomWalkPolicy}) {
    VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<Policy> policy, make(view));
    add(std::move(policy));
  }
  add(MakeSimulatedFrequencyPolicy(simulated));
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<StaticOrder> vip, MakeVipPolicy(view));
  const StaticOrder& likeliest = ranking == nullptr ? *vip : *ranking;
  const std::vector<int64_t> ranked(likeliest.order().begin(), likeliest.order().end());
  add(std::move(vip));
  if (ranking != nullptr) add(std::move(ranking));
  add(MakeOraclePolicy(trace));
  add(MakeLruPolicy(ranked));
  for (const int64_t window : windows) add(MakeNextUsePolicy(ranked, window));
  add(MakeBeladyPolicy());
  return policies;
}

}  // namespace vicinity

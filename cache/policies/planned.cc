#include "cache/policies/planned.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "cache/policies/replay.h"
#include "cache/pool/look_ahead_planner.h"
#include "proto/common/status.h"

namespace vicinity {

PlannedPolicy::PlannedPolicy(Rule rule, std::vector<int64_t> ranked)
    : rule_(std::move(rule)), ranked_(std::move(ranked)) {}

absl::StatusOr<PolicyCount> PlannedPolicy::Count(const AccessTrace& trace,
                                                 const PolicyBudget& budget) const {
  VICINITY_RETURN_IF_ERROR(budget.Validate());
  LookAheadPlanner::Options options;
  options.capacity_rows = budget.total_rows;
  options.use_likelihood = rule_.use_likelihood;
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<LookAheadPlanner> planner,
                            LookAheadPlanner::Create(options, ranked_));
  return Replay(trace, budget.depth, rule_.window, planner.get());
}

}  // namespace vicinity

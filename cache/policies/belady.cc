#include "cache/policies/belady.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/planned.h"
#include "cache/policies/policy.h"

namespace vicinity {

namespace {

class BeladyPolicy : public Policy {
 public:
  std::string name() const override { return "belady"; }

  absl::StatusOr<PolicyCount> Count(const AccessTrace& trace,
                                    const PolicyBudget& budget) const override {
    std::vector<char> is_seen(trace.num_nodes());
    std::vector<int64_t> by_first_use;
    for (const int64_t node : trace.uses()) {
      if (is_seen[node] == 0) by_first_use.push_back(node);
      is_seen[node] = 1;
    }
    PlannedPolicy::Rule rule;
    rule.name = name();
    rule.window = std::numeric_limits<int64_t>::max();
    return PlannedPolicy(rule, std::move(by_first_use)).Count(trace, budget);
  }
};

}  // namespace

std::unique_ptr<Policy> MakeBeladyPolicy() { return std::make_unique<BeladyPolicy>(); }

}  // namespace vicinity

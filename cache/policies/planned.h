// Policies that change what they hold as they go: the look-ahead planner, told more or less.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/policies/policy.h"

namespace vicinity {

class PlannedPolicy : public Policy {
 public:
  struct Rule {
    std::string name;
    int64_t window = 0;          // batches that wait, their ids known (replay.h)
    bool use_likelihood = true;  // what is not needed inside it goes by the ranking
  };

  // `ranked`: nodes, likeliest first, none twice; the first fill the pool before it starts.
  PlannedPolicy(Rule rule, std::vector<int64_t> ranked);

  std::string name() const override { return rule_.name; }
  absl::StatusOr<PolicyCount> Count(const AccessTrace& trace,
                                    const PolicyBudget& budget) const override;

 private:
  const Rule rule_;
  const std::vector<int64_t> ranked_;
};

}  // namespace vicinity

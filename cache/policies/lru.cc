#include "cache/policies/lru.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cache/policies/planned.h"
#include "cache/policies/policy.h"

namespace vicinity {

std::unique_ptr<Policy> MakeLruPolicy(std::vector<int64_t> ranked) {
  PlannedPolicy::Rule rule;
  rule.name = "lru";
  rule.use_likelihood = false;
  return std::make_unique<PlannedPolicy>(rule, std::move(ranked));
}

}  // namespace vicinity

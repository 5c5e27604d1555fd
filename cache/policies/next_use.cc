#include "cache/policies/next_use.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cache/policies/planned.h"
#include "cache/policies/policy.h"

namespace vicinity {

std::unique_ptr<Policy> MakeNextUsePolicy(std::vector<int64_t> ranked, int64_t window) {
  PlannedPolicy::Rule rule;
  rule.name = absl::StrCat("next-use-", window);
  rule.window = window;
  return std::make_unique<PlannedPolicy>(rule, std::move(ranked));
}

}  // namespace vicinity

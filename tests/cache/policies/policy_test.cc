#include "cache/policies/policy.h"

#include <catch2/catch.hpp>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("a budget has no negative rows and some depth", "[policies]") {
  VICINITY_CHECK_OK(PolicyBudget{}.Validate());
  VICINITY_CHECK_OK((PolicyBudget{9, 10}).Validate());
  VICINITY_CHECK_CODE((PolicyBudget{-1, 1}).Validate(), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE((PolicyBudget{0, 0}).Validate(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

#include "cache/policies/planned.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("a planned policy starts full and counts every trace anew", "[policies]") {
  AccessTrace trace(5);
  trace.AddBatch({3, 2});
  trace.AddBatch({0, 4});
  trace.EndEpoch();
  const PlannedPolicy policy({"rule", 10, true}, {3, 2, 0, 4, 1});
  CHECK(policy.name() == "rule");
  for (int round = 0; round < 2; ++round) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const PolicyCount count, policy.Count(trace, {3, 1}));
    CHECK(count.used == 4);
    CHECK(count.fetched == 1);
    CHECK(count.most_held == 3);
  }
  VICINITY_CHECK_CODE(policy.Count(trace, {3, 0}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(policy.Count(trace, {int64_t{1} << 40, 1}),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

#include "cache/policies/simulated_frequency.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "tests/cache/policies/policy_oracles.h"

namespace vicinity {
namespace {

TEST_CASE("simulated frequency goes by the epochs simulated", "[policies]") {
  const std::vector<double> chances = {0.9, 0.1, 0.5, 0.3, 0.01, 0.7};
  const AccessTrace simulated = testing::RandomTrace(chances, 200, 1);
  const AccessTrace trace = testing::RandomTrace(chances, 20, 2);
  const std::unique_ptr<Policy> policy = MakeSimulatedFrequencyPolicy(simulated);
  CHECK(policy->name() == "simulated-frequency");
  testing::CheckStaticOrder(*policy, {0, 5, 2, 3, 1, 4});
}

}  // namespace
}  // namespace vicinity

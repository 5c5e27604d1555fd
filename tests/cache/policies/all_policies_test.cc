#include "cache/policies/all_policies.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "client/planning/sampled_trace.h"
#include "proto/common/progress.h"
#include "tests/cache/policies/policy_oracles.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("the table has every policy, each in its place", "[policies]") {
  const auto trainer = testing::MakeSmallTrainer(GENERATE(false, true));
  TraceOptions other_epochs;
  other_epochs.first_epoch = 10;
  VICINITY_ASSERT_OK_AND_ASSIGN(const AccessTrace simulated,
                                SampleTrace(*trainer->view, other_epochs, NoProgress()));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const std::vector<std::unique_ptr<Policy>> policies,
      MakeAllPolicies(*trainer->view, simulated, *trainer->trace, {4, 12}));
  const PolicyBudget budget = {60, 4};
  std::vector<std::string> names;
  std::map<std::string, int64_t> fetched;
  for (const std::unique_ptr<Policy>& policy : policies) {
    names.push_back(policy->name());
    VICINITY_ASSERT_OK_AND_ASSIGN(const PolicyCount count, policy->Count(*trainer->trace, budget));
    fetched[names.back()] = count.fetched;
    CHECK(count.used == trainer->trace->num_uses());
  }
  CHECK(names == std::vector<std::string>{"none", "halo", "degree", "reachable-paths",
                                          "random-walk", "simulated-frequency", "vip", "oracle",
                                          "lru", "next-use-4", "next-use-12", "belady"});
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(fetched[name] >= fetched["belady"]);
    CHECK(fetched[name] <= fetched["none"]);
  }
  for (const char* name : {"halo", "degree", "reachable-paths", "random-walk", "vip"}) {
    CHECK(fetched[name] >= fetched["oracle"]);
  }
}

TEST_CASE("a ranking of the caller's is one more policy, and what others begin with",
          "[policies]") {
  const auto trainer = testing::MakeSmallTrainer(false);
  const AccessTrace& trace = *trainer->trace;
  const auto count = [&](std::unique_ptr<StaticOrder> ranking) {
    const bool given = ranking != nullptr;
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const std::vector<std::unique_ptr<Policy>> policies,
        MakeAllPolicies(*trainer->view, trace, trace, {4}, std::move(ranking)));
    CHECK(policies.size() == (given ? 12 : 11));
    std::map<std::string, int64_t> fetched;
    for (const std::unique_ptr<Policy>& policy : policies) {
      VICINITY_ASSERT_OK_AND_ASSIGN(const PolicyCount count, policy->Count(trace, {60, 4}));
      fetched[policy->name()] = count.fetched;
    }
    return fetched;
  };
  std::map<std::string, int64_t> by_vip = count(nullptr);
  const std::vector<int64_t> best = OrderByScore(trace.CountUses());
  std::map<std::string, int64_t> by_best = count(std::make_unique<StaticOrder>("mine", best));
  CHECK(by_best["mine"] == by_best["oracle"]);
  CHECK(by_best["vip"] == by_vip["vip"]);
  CHECK(by_best["next-use-4"] != by_vip["next-use-4"]);
}

}  // namespace
}  // namespace vicinity

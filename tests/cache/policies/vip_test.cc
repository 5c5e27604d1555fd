#include "cache/policies/vip.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "cache/vip/vip.h"
#include "proto/common/progress.h"
#include "tests/cache/policies/policy_oracles.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("the VIP policy holds the nodes that a batch needs most probably", "[policies]") {
  const auto trainer = testing::MakeSmallTrainer(GENERATE(false, true));
  const TrainerView& view = *trainer->view;
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores vip, ComputeVip(view.dataset(), {view.seeds()},
                                                                view.options(), NoProgress()));
  std::vector<double> scores(view.num_nodes());
  for (int32_t t = 0; t < static_cast<int32_t>(vip.values.size()); ++t) {
    for (size_t node = 0; node < vip.values[t].size(); ++node) {
      scores[view.first({t}) + node] = vip.values[t][node];
    }
  }
  const std::vector<int64_t> order = testing::NaiveOrder(view, scores);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<StaticOrder> policy, MakeVipPolicy(view));
  CHECK(policy->name() == "vip");
  CHECK(std::vector<int64_t>(policy->order().begin(), policy->order().end()) == order);
  testing::CheckStaticOrder(*policy, order);
}

}  // namespace
}  // namespace vicinity

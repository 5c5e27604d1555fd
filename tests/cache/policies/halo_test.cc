#include "cache/policies/halo.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "cache/policies/policy.h"
#include "cache/policies/trainer_view.h"
#include "tests/cache/policies/policy_oracles.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("the halo is what edges into the home shards come from", "[policies]") {
  const auto trainer = testing::MakeSmallTrainer(GENERATE(false, true));
  const TrainerView& view = *trainer->view;
  std::vector<double> scores(view.num_nodes());
  for (const auto& edge : testing::AllEdges(view)) {
    const bool followed =
        testing::IsFollowed(view, 0, edge.type) || testing::IsFollowed(view, 1, edge.type);
    if (followed && !view.is_remote(edge.target)) scores[edge.source] += 1;
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Policy> policy, MakeHaloPolicy(view));
  CHECK(policy->name() == "halo");
  testing::CheckStaticOrder(*policy, testing::NaiveOrder(view, scores));
}

}  // namespace
}  // namespace vicinity

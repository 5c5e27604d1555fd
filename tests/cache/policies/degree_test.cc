#include "cache/policies/degree.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/policies/policy.h"
#include "cache/policies/trainer_view.h"
#include "tests/cache/policies/policy_oracles.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("degree counts the lists that name a node in reach", "[policies]") {
  const auto trainer = testing::MakeSmallTrainer(GENERATE(false, true));
  const TrainerView& view = *trainer->view;
  std::vector<double> degrees(view.num_nodes());
  std::vector<char> in_reach(view.num_nodes());
  for (int64_t node = 0; node < view.num_nodes(); ++node)
    in_reach[node] = view.SeedMarks()[node] > 0;
  const std::vector<testing::NumberedEdge> edges = testing::AllEdges(view);
  for (int hop = 0; hop < 2; ++hop) {
    const std::vector<char> before = in_reach;
    for (const auto& edge : edges) {
      if (testing::IsFollowed(view, hop, edge.type) && before[edge.target] != 0) {
        in_reach[edge.source] = 1;
      }
    }
  }
  for (const auto& edge : edges) {
    const bool followed =
        testing::IsFollowed(view, 0, edge.type) || testing::IsFollowed(view, 1, edge.type);
    if (followed && in_reach[edge.source] != 0) degrees[edge.source] += 1;
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Policy> policy, MakeDegreePolicy(view));
  CHECK(policy->name() == "degree");
  testing::CheckStaticOrder(*policy, testing::NaiveOrder(view, degrees));
}

}  // namespace
}  // namespace vicinity

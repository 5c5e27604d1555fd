#include "cache/policies/reachable_paths.h"

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

using Edges = std::vector<testing::NumberedEdge>;

// Every way on from a node, one by one.
void Walk(const TrainerView& view, const Edges& edges, int hop, int64_t node,
          std::vector<double>* ways) {
  if (hop == 2) {
    (*ways)[node] += 1;
    return;
  }
  Walk(view, edges, hop + 1, node, ways);
  for (const auto& edge : edges) {
    if (edge.target == node && testing::IsFollowed(view, hop, edge.type)) {
      Walk(view, edges, hop + 1, edge.source, ways);
    }
  }
}

TEST_CASE("reachable paths are the ways that lead to a node", "[policies]") {
  const auto trainer = testing::MakeSmallTrainer(GENERATE(false, true));
  const TrainerView& view = *trainer->view;
  const Edges edges = testing::AllEdges(view);
  std::vector<double> scores(view.num_nodes());
  for (const int64_t seed : view.seeds().nodes) {
    Walk(view, edges, 0, view.first(view.seeds().type) + seed, &scores);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Policy> policy,
                                MakeReachablePathsPolicy(view));
  CHECK(policy->name() == "reachable-paths");
  testing::CheckStaticOrder(*policy, testing::NaiveOrder(view, scores));
}

}  // namespace
}  // namespace vicinity

#include "cache/policies/random_walk.h"

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

// Every way on from a node with its chance, one by one.
void Walk(const TrainerView& view, const Edges& edges, int hop, int64_t node, double chance,
          std::vector<double>* walkers) {
  if (hop == 2) {
    (*walkers)[node] += chance;
    return;
  }
  Walk(view, edges, hop + 1, node, chance, walkers);
  std::vector<int64_t> sources;
  for (const auto& edge : edges) {
    if (edge.target == node && testing::IsFollowed(view, hop, edge.type)) {
      sources.push_back(edge.source);
    }
  }
  for (const int64_t source : sources) {
    Walk(view, edges, hop + 1, source, chance / static_cast<double>(sources.size()), walkers);
  }
}

TEST_CASE("random walkers are where all walks with their chances lead", "[policies]") {
  const auto trainer = testing::MakeSmallTrainer(GENERATE(false, true));
  const TrainerView& view = *trainer->view;
  const Edges edges = testing::AllEdges(view);
  std::vector<double> scores(view.num_nodes());
  for (const int64_t seed : view.seeds().nodes) {
    Walk(view, edges, 0, view.first(view.seeds().type) + seed, 1.0, &scores);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Policy> policy, MakeRandomWalkPolicy(view));
  CHECK(policy->name() == "random-walk");
  testing::CheckStaticOrder(*policy, testing::NaiveOrder(view, scores));
}

}  // namespace
}  // namespace vicinity

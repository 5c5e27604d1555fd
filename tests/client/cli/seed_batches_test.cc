#include "client/cli/seed_batches.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cache/seed_chances.h"
#include "client/cli/home_plan.h"
#include "partition/dataset.h"
#include "tests/testing/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

class Fixture {
 public:
  explicit Fixture(const testing::MemoryGraph& graph) {
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 4, 3), folder_.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("d")));
  }
  const Dataset& dataset() const { return *dataset_; }
  HomePlan Plan(const VipFlags& flags) const {
    VICINITY_ASSERT_OK_AND_ASSIGN(HomePlan plan,
                                  PlanHomes(*dataset_, AssignmentOf(dataset_->book()), flags));
    return plan;
  }

 private:
  const testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
};

TEST_CASE("epochs of nodes take each once, in full batches", "[cli]") {
  const Fixture fixture(testing::RandomGraph({}));
  VipFlags flags;
  flags.batch_size = 5;
  flags.seeds = "all";
  const HomePlan plan = fixture.Plan(flags);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto batches, BatchesOf(fixture.dataset(), plan, 2, 7));
  const std::vector<int64_t>& nodes = plan.seeds[2].nodes;
  std::vector<int64_t> first_epoch;
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    std::set<int64_t> taken;
    std::vector<int64_t> order;
    for (size_t step = 0; step < nodes.size() / 5; ++step) {
      const std::vector<int64_t> batch = batches->Next();
      REQUIRE(batch.size() == 5);
      for (const int64_t node : batch) {
        CHECK(std::count(nodes.begin(), nodes.end(), node) == 1);
        CHECK(taken.insert(node).second);
        order.push_back(node);
      }
    }
    if (epoch == 0) first_epoch = order;
    if (epoch > 0) CHECK(order != first_epoch);
  }
}

TEST_CASE("batches of links hold nodes as often as the analysis says", "[cli]") {
  testing::RandomGraphOptions shape;
  shape.num_nodes = 40;
  shape.num_edges = 120;
  const Fixture fixture(testing::RandomGraph(shape));
  VipFlags flags;
  flags.seed_links = "links";
  flags.negatives_per_link = GENERATE(0, 2);
  flags.batch_size = 6;
  const HomePlan plan = fixture.Plan(flags);
  int32_t home = 0;
  while (plan.num_seeds(home) < 20) ++home;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto batches, BatchesOf(fixture.dataset(), plan, home, 7));
  constexpr int kBatches = 20000;
  std::vector<double> held(40);
  for (int i = 0; i < kBatches; ++i) {
    const std::vector<int64_t> batch = batches->Next();
    CHECK(static_cast<int64_t>(batch.size()) == 6 * (2 + flags.negatives_per_link));
    for (const int64_t node : std::set<int64_t>(batch.begin(), batch.end())) held[node] += 1;
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<SeedChances> chances,
                                ChancesOf(plan.links[home], 6, fixture.dataset().book()));
  REQUIRE(chances.size() == 1);
  std::vector<double> expected(40, chances[0].others);
  for (size_t i = 0; i < chances[0].nodes.size(); ++i) {
    expected[chances[0].nodes[i]] = chances[0].chances[i];
  }
  for (size_t node = 0; node < 40; ++node) {
    CAPTURE(node);
    CHECK(held[node] / kBatches == Approx(expected[node]).margin(0.02));  // 5 standard errors
  }
}

TEST_CASE("batches with seeds of two types are refused", "[cli]") {
  const Fixture fixture(testing::TypedGraph(60, 40, 5, 1));
  VipFlags flags;
  flags.negatives_per_link = 1;
  SECTION("ends") { flags.seed_links = "buys"; }
  SECTION("negatives") {
    flags.seed_links = "knows";
    flags.negative_type = "item";
  }
  VICINITY_CHECK_CODE(BatchesOf(fixture.dataset(), fixture.Plan(flags), 0, 1).status(),
                      absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace vicinity::cli

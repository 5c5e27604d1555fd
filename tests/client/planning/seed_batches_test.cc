#include "client/planning/seed_batches.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cache/vip/seed_chances.h"
#include "client/planning/home_plan.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "sampler/graph_builder.h"
#include "tests/client/planning/timed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

class Fixture {
 public:
  explicit Fixture(const testing::MemoryGraph& graph) {
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 4, 3), folder_.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("d")));
  }
  const Dataset& dataset() const { return *dataset_; }
  HomePlan Plan(const VipRequest& flags) const {
    VICINITY_ASSERT_OK_AND_ASSIGN(HomePlan plan,
                                  PlanHomes(*dataset_, AssignmentOf(dataset_->book()), flags));
    return plan;
  }

 private:
  const testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
};

TEST_CASE("epochs of a home's nodes take each once, and go on", "[cli]") {
  const Fixture fixture(testing::RandomGraph({}));
  VipRequest flags;
  flags.batch_size = 5;
  flags.seeds = "all";
  const HomePlan plan = fixture.Plan(flags);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto batches, BatchesOf(fixture.dataset(), plan, 2, 1, 7));
  const std::set<int64_t> nodes(plan.seeds[2].nodes.begin(), plan.seeds[2].nodes.end());
  std::vector<int64_t> first_epoch;
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> order;
    std::set<uint64_t> draws;
    for (int64_t step = 0; step < batches->steps(); ++step) {
      const SeedBatch batch = batches->Next();
      REQUIRE(batch.seeds.size() == 1);
      const std::vector<int64_t>& seeds = batch.seeds[0].ids;
      CHECK(seeds.size() <= 5);
      CHECK(batch.draw.run_seed == 7);
      CHECK(batch.draw.epoch == epoch);
      CHECK(draws.insert(batch.draw.batch).second);
      order.insert(order.end(), seeds.begin(), seeds.end());
    }
    CHECK(std::set<int64_t>(order.begin(), order.end()) == nodes);
    if (epoch == 0) first_epoch = order;
    if (epoch > 0) CHECK(order != first_epoch);
  }
}

TEST_CASE("seeds of all are dealt to the homes' trainers, each once", "[cli]") {
  const Fixture fixture(testing::RandomGraph({}));
  VipRequest flags;
  flags.batch_size = 5;
  flags.seeds = "all";
  HomePlan plan = fixture.Plan(flags);
  const bool from_all = GENERATE(false, true);
  if (from_all) DealFromAll(&plan);
  // Two trainers a home: the first of each has half of what there is.
  std::set<int64_t> taken;
  int64_t num_taken = 0;
  for (int32_t home = 0; home < 4; ++home) {
    if (plan.num_seeds(home) == 0) continue;
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto batches,
                                  BatchesOf(fixture.dataset(), plan, home, 2, 7));
    for (int64_t step = 0; step + 1 < batches->steps(); ++step) {  // the last may begin again
      const SeedBatch batch = batches->Next();
      num_taken += CountSeeds(batch.seeds);
      taken.insert(batch.seeds[0].ids.begin(), batch.seeds[0].ids.end());
    }
  }
  const int64_t num_nodes = fixture.dataset().book().num_nodes({0});
  CHECK(num_taken <= (num_nodes + 1) / 2 + 20);
  CHECK(num_taken >= num_nodes / 2 - 60);
  if (from_all) CHECK(static_cast<int64_t>(taken.size()) == num_taken);
}

TEST_CASE("seeds bring their times, wherever they are dealt from", "[cli]") {
  const Fixture fixture(testing::TimedGraph(100, 600, 1));
  VipRequest flags;
  flags.batch_size = 5;
  flags.seeds = "all";
  flags.disjoint = true;
  flags.time_column = "time";
  HomePlan plan = fixture.Plan(flags);
  if (GENERATE(false, true)) DealFromAll(&plan);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto batches, BatchesOf(fixture.dataset(), plan, 2, 1, 7));
  for (int64_t step = 0; step < batches->steps(); ++step) {
    const std::vector<TypedSeeds> batch = batches->Next().seeds;
    REQUIRE(batch[0].times.size() == batch[0].ids.size());
    for (size_t i = 0; i < batch[0].ids.size(); ++i) {
      CHECK(batch[0].times[i] == plan.node_times[batch[0].ids[i]]);
    }
  }
}

TEST_CASE("both ends of a link, and its negatives, have its time", "[cli]") {
  // No two links between the same nodes, whose times would tell nothing.
  testing::MemoryGraph graph = testing::TimedGraph(100, 99, 1);
  for (int64_t i = 0; i < 99; ++i) {
    graph.edges[0].sources[i] = i;
    graph.edges[0].targets[i] = i + 1;
  }
  const testing::Placement placement = testing::Shuffled(graph, 4, 3);
  const Fixture fixture(graph);
  VipRequest flags;
  flags.batch_size = 5;
  flags.seed_links = "links";
  flags.negatives_per_link = 2;
  flags.disjoint = true;
  flags.time_column = "time";
  HomePlan plan = fixture.Plan(flags);
  if (GENERATE(false, true)) DealFromAll(&plan);
  int32_t home = 0;
  while (plan.num_seeds(home) < 20) ++home;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto batches, BatchesOf(fixture.dataset(), plan, home, 1, 7));
  const std::vector<TypedSeeds> batch = batches->Next().seeds;
  REQUIRE(batch[0].ids.size() == 5);
  for (size_t i = 0; i < 5; ++i) {
    const int64_t edge = placement.PositionOf(NodeTypeId{0}, GlobalNode{batch[0].ids[i]});
    const int64_t time = testing::EdgeTime(graph, edge);  // that from node i is number i
    CHECK(batch[0].times[i] == time);
    CHECK(batch[1].times[i] == time);
    CHECK(batch[2].times[2 * i] == time);
    CHECK(batch[2].times[2 * i + 1] == time);
  }
}

TEST_CASE("links of all are shared by the homes' trainers, whose batches are not the same",
          "[cli]") {
  testing::RandomGraphOptions shape;
  shape.num_nodes = 40;
  shape.num_edges = 120;
  const Fixture fixture(testing::RandomGraph(shape));
  VipRequest flags;
  flags.seed_links = "links";
  flags.batch_size = 6;
  HomePlan plan = fixture.Plan(flags);
  DealFromAll(&plan);
  std::set<std::vector<int64_t>> firsts;
  for (int32_t home = 0; home < 4; ++home) {
    CHECK(plan.num_seeds(home) == 120);
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto batches,
                                  BatchesOf(fixture.dataset(), plan, home, 1, 7));
    CHECK(batches->steps() == 120 / (6 * 4));
    std::set<int32_t> homes;
    for (int i = 0; i < 20; ++i) {
      const std::vector<TypedSeeds> batch = batches->Next().seeds;
      if (i == 0) firsts.insert(batch[0].ids);
      for (const int64_t target : batch[1].ids) homes.insert(plan.link_edges.home_of[target]);
    }
    CHECK(homes.size() == 4);
  }
  CHECK(firsts.size() == 4);
}

TEST_CASE("batches of links hold nodes as often as the analysis says", "[cli]") {
  testing::RandomGraphOptions shape;
  shape.num_nodes = 40;
  shape.num_edges = 120;
  const Fixture fixture(testing::RandomGraph(shape));
  VipRequest flags;
  flags.seed_links = "links";
  flags.negatives_per_link = GENERATE(0, 2);
  flags.batch_size = 6;
  HomePlan plan = fixture.Plan(flags);
  if (GENERATE(false, true)) DealFromAll(&plan);
  int32_t home = 0;
  while (plan.num_seeds(home) < 20) ++home;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto batches, BatchesOf(fixture.dataset(), plan, home, 1, 7));
  constexpr int kBatches = 20000;
  std::vector<double> held(40);
  for (int i = 0; i < kBatches; ++i) {
    const std::vector<TypedSeeds> batch = batches->Next().seeds;
    CHECK(CountSeeds(batch) == 6 * (2 + flags.negatives_per_link));
    std::set<int64_t> nodes;
    for (const TypedSeeds& list : batch) nodes.insert(list.ids.begin(), list.ids.end());
    for (const int64_t node : nodes) held[node] += 1;
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

TEST_CASE("sources, targets and negatives of links are lists of their types", "[cli]") {
  const Fixture fixture(testing::TypedGraph(60, 40, 5, 1));
  VipRequest flags;
  flags.seed_links = "buys";
  flags.negatives_per_link = 2;
  flags.negative_type = "user";
  flags.batch_size = 5;
  const HomePlan plan = fixture.Plan(flags);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto batches, BatchesOf(fixture.dataset(), plan, 0, 1, 1));
  const EdgeTypeSpec& buys =
      fixture.dataset().schema().edge_types[fixture.dataset().schema().FindEdgeType("buys")];
  const std::vector<TypedSeeds> batch = batches->Next().seeds;
  REQUIRE(batch.size() == 3);
  CHECK(batch[0].type == NodeTypeId{buys.source_type});
  CHECK(batch[1].type == NodeTypeId{buys.target_type});
  CHECK(batch[2].type == NodeTypeId{0});
  CHECK(batch[0].ids.size() == 5);
  CHECK(batch[1].ids.size() == 5);
  CHECK(batch[2].ids.size() == 10);
}

}  // namespace
}  // namespace vicinity

#include "client/planning/calibrated_scores.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cache/vip/vip.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
#include "client/query/query_text.h"
#include "partition/cut/assigner.h"
#include "partition/cut/hash_assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/ingest/generate_block_model.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/client/planning/timed_graph.h"
#include "tests/testing/graphs/measured_remote.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

VipScores Calibrated(const Dataset& dataset, const HomePlan& plan,
                     const CalibrationOptions& options = {}) {
  VICINITY_ASSERT_OK_AND_ASSIGN(CalibratedScores result,
                                CalibratedScoresOf(dataset, plan, options, NoProgress()));
  CHECK((result.num_batches > 0) == (options.most_epochs > 0));
  return std::move(result.scores);
}

// Communities so small that most ways of two steps lead back to where one was: what the formula
// takes as independent is not.
struct Fixture {
  Fixture() {
    BlockModelOptions options;
    options.num_nodes = 4096;
    options.average_degree = 12;
    options.num_communities = 256;
    options.features.width = 1;
    VICINITY_REQUIRE_OK(GenerateBlockModel(options, folder.File("d"), NoProgress()).status());
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset, Dataset::Open(folder.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(assignment, HashAssigner().Assign(*dataset, 4, NoProgress()));
    VipRequest flags;
    flags.fanouts = {5, 5, 5};
    flags.batch_size = 16;
    flags.seeds = "all";  // many batches: the last of an epoch is smaller
    VICINITY_ASSERT_OK_AND_ASSIGN(plan, PlanHomes(*dataset, assignment, flags));
  }
  // Rows that batches of another run need from other shards, with the likeliest `cache_rows` held.
  double Measure(const VipScores& scores, int64_t cache_rows) const {
    testing::MeasureOptions options;
    options.run_seed = 77;
    options.least_batches = 2000;
    VICINITY_ASSERT_OK_AND_ASSIGN(const testing::MeasuredRemote measured,
                                  testing::MeasureRemote(*dataset, scores, plan, assignment, {},
                                                         {cache_rows}, options, NoProgress()));
    return measured.rows[0];
  }
  double Expect(const VipScores& scores, int64_t cache_rows) const {
    return RemoteCurves(scores, plan, assignment).RowsPerBatch(cache_rows);
  }

  testing::TempDir folder;
  std::unique_ptr<Dataset> dataset;
  Assignment assignment;
  HomePlan plan;
};

TEST_CASE("where ways share edges, sampled batches make a better ranking than the formula",
          "[cli]") {
  const Fixture fixture;
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores formula,
                                ScoresOf(*fixture.dataset, fixture.plan, NoProgress()));
  const VipScores calibrated = Calibrated(*fixture.dataset, fixture.plan);
  constexpr int64_t kCacheRows = 500;
  const double by_formula = fixture.Measure(formula, kCacheRows);
  const double by_both = fixture.Measure(calibrated, kCacheRows);
  CAPTURE(by_formula, by_both);
  CHECK(by_both < 0.99 * by_formula);
  CHECK(fixture.Expect(formula, kCacheRows) > 1.05 * by_formula);
  CHECK(fixture.Expect(calibrated, kCacheRows) == Approx(by_both).epsilon(0.02));
}

TEST_CASE("batches by whatever rules need as many rows as their own scores say", "[cli]") {
  const testing::MemoryGraph graph = testing::TimedGraph(2048, 20480, 1);
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 4, 3), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  const Assignment assignment = AssignmentOf(dataset->book());
  VipRequest flags;
  flags.fanouts = {4, 3};
  flags.batch_size = 16;
  flags.seeds = "all";
  SECTION("a condition") { flags.where = "time < 40"; }
  SECTION("disjoint trees") { flags.disjoint = true; }
  SECTION("times") {
    flags.disjoint = true;
    flags.time_column = "time";
    flags.time_window = 60;
  }
  SECTION("LABOR") {
    flags.draws = Draws::kLabor;
    flags.layer_dependency = true;
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan, PlanHomes(*dataset, assignment, flags));
  const VipScores scores = Calibrated(*dataset, plan);
  testing::MeasureOptions options;
  options.run_seed = 77;
  options.least_batches = 1000;
  const std::vector<int64_t> sizes = {0, 256};
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const testing::MeasuredRemote measured,
      testing::MeasureRemote(*dataset, scores, plan, assignment, {}, sizes, options, NoProgress()));
  const RemoteCurves curves(scores, plan, assignment);
  CHECK(curves.RowsPerBatch(0) == Approx(measured.rows[0]).epsilon(0.02));
  CHECK(curves.RowsPerBatch(256) == Approx(measured.rows[1]).epsilon(0.03));
}

TEST_CASE("the same scores come of the same graph", "[cli]") {
  const Fixture fixture;
  CHECK(Calibrated(*fixture.dataset, fixture.plan).values ==
        Calibrated(*fixture.dataset, fixture.plan).values);
}

TEST_CASE("few rows allowed are few batches, no epochs the formula alone", "[cli]") {
  const Fixture fixture;
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores formula,
                                ScoresOf(*fixture.dataset, fixture.plan, NoProgress()));
  CHECK(Calibrated(*fixture.dataset, fixture.plan, {0, 0}).values == formula.values);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const CalibratedScores few,
      CalibratedScoresOf(*fixture.dataset, fixture.plan, {8, 0}, NoProgress()));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const CalibratedScores all,
      CalibratedScoresOf(*fixture.dataset, fixture.plan, {8, int64_t{1} << 40}, NoProgress()));
  CHECK(few.num_batches < all.num_batches);
  CHECK(CalibratedScoresOf(*fixture.dataset, fixture.plan, {-1, 0}, NoProgress()).status().code() ==
        absl::StatusCode::kInvalidArgument);
}

TEST_CASE("links between two node types are sampled like others", "[cli]") {
  const testing::MemoryGraph graph = testing::TypedGraph(150, 100, 10, 2);
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 4, 3), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  VipRequest flags;
  flags.seed_links = "user:buys:item";
  flags.batch_size = 4;
  flags.fanouts = {2};
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan,
                                PlanHomes(*dataset, AssignmentOf(dataset->book()), flags));
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores formula, ScoresOf(*dataset, plan, NoProgress()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const CalibratedScores result,
                                CalibratedScoresOf(*dataset, plan, {}, NoProgress()));
  CHECK(result.num_batches > 0);
  CHECK(result.scores.values != formula.values);
}

// Answers of queries of a graph so small that the chance of each node to be needed can be added up.
struct SmallQueries {
  static constexpr int64_t kNodes = 40;

  SmallQueries() {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset, Dataset::Open(folder.File("d")));
    lists = graph.InEdgesOfAll(EdgeTypeId{0});
  }

  static testing::MemoryGraph RandomGraph() {
    testing::RandomGraphOptions options;
    options.num_nodes = kNodes;
    options.num_edges = 120;
    return testing::RandomGraph(options);
  }

  HomePlan Plan(const std::string& query, int64_t batch_size) const {
    VipRequest request;
    request.seeds = "all";
    request.homes = "0,1";
    request.batch_size = batch_size;
    VICINITY_ASSERT_OK_AND_ASSIGN(request.query, ParseQuery(query));
    VICINITY_ASSERT_OK_AND_ASSIGN(HomePlan plan,
                                  PlanHomes(*dataset, AssignmentOf(dataset->book()), request));
    return plan;
  }

  // How far the scores are from these chances, by position: the mean square of their distance in
  // standard deviations of as many batches, which is 1 of independent ones.
  double Distance(const CalibratedScores& result, const std::vector<double>& chances) const {
    double sum = 0;
    int64_t num_nodes = 0;
    for (int64_t node = 0; node < kNodes; ++node) {
      const double chance = chances[placement.PositionOf(NodeTypeId{0}, GlobalNode{node})];
      const double variance =
          chance * (1 - chance) / static_cast<double>(result.num_batches) + 1e-12;
      const double off = result.scores.at(NodeTypeId{0}, GlobalNode{node}, 0) - chance;
      sum += off * off / variance;
      ++num_nodes;
    }
    return sum / static_cast<double>(num_nodes);
  }

  // Whether a walk of so many steps from `start` comes by `node`.
  double Visits(int64_t start, int64_t node, int64_t length) const {
    if (start == node) return 1;
    std::vector<double> at(kNodes);  // not having come by
    at[start] = 1;
    double visits = 0;
    for (int64_t step = 0; step < length; ++step) {
      std::vector<double> next(kNodes);
      for (int64_t from = 0; from < kNodes; ++from) {
        for (const testing::InEdge& edge : lists[from]) {
          next[edge.source] += at[from] / static_cast<double>(lists[from].size());
        }
      }
      visits += next[node];
      next[node] = 0;
      at = next;
    }
    return visits;
  }

  // By node, of a batch of so many starts, all sets of which are as likely.
  std::vector<double> ChancesOfWalks(int64_t length, int64_t batch_size) const {
    std::vector<double> chances;
    for (int64_t node = 0; node < kNodes; ++node) {
      // misses[k]: the product of not coming by, the mean over all sets of k of the starts so far.
      std::vector<double> misses(batch_size + 1);
      misses[0] = 1;
      for (int64_t start = 0; start < kNodes; ++start) {
        const double miss = 1 - Visits(start, node, length);
        for (int64_t k = std::min(start + 1, batch_size); k > 0; --k) {
          const double with = static_cast<double>(k) / static_cast<double>(start + 1);
          misses[k] = with * misses[k - 1] * miss + (1 - with) * misses[k];
        }
      }
      chances.push_back(1 - misses[batch_size]);
    }
    return chances;
  }

  // By node, of a layer of `count` nodes for two targets, all pairs of which are as likely.
  std::vector<double> ChancesOfLayers(int64_t count) const {
    std::vector<double> chances(kNodes);
    const double pairs = kNodes * (kNodes - 1) / 2.0;
    for (int64_t one = 0; one < kNodes; ++one) {
      for (int64_t other = 0; other < one; ++other) {
        std::vector<double> weights(kNodes);
        for (const int64_t target : {one, other}) {
          for (const testing::InEdge& edge : lists[target]) ++weights[edge.source];
        }
        const auto all = static_cast<double>(lists[one].size() + lists[other].size());
        for (int64_t node = 0; node < kNodes; ++node) {
          const bool seed = node == one || node == other;
          const double drawn =
              all == 0 ? 0 : 1 - std::pow(1 - weights[node] / all, static_cast<double>(count));
          chances[node] += (seed ? 1 : drawn) / pairs;
        }
      }
    }
    return chances;
  }

  testing::TempDir folder;
  const testing::MemoryGraph graph = RandomGraph();
  const testing::Placement placement = testing::Shuffled(graph, 2, 3);
  std::unique_ptr<Dataset> dataset;
  std::vector<std::vector<testing::InEdge>> lists;
};

TEST_CASE("scores of a query's answers are the chances that their rows are needed", "[planning]") {
  const SmallQueries small;
  CalibrationOptions options;
  options.most_epochs = 400;
  std::string query;
  int64_t batch_size = 0;
  std::vector<double> chances, biased;
  SECTION("walks") {
    query = "src = nodes(node, $seeds); w = walk(src, links, 3)";
    batch_size = 5;
    chances = small.ChancesOfWalks(3, 5);
    biased = small.ChancesOfWalks(2, 5);
  }
  SECTION("layers") {
    query = "src = nodes(node, $seeds); l = layer(src, links, 4)";
    batch_size = 2;
    chances = small.ChancesOfLayers(4);
    biased = small.ChancesOfLayers(3);
  }
  SECTION("nodes of all, which no edges lead to") {
    query = "src = nodes(node, $seeds); all = nodes(node, count=7)";
    batch_size = 4;
    const auto chance = [](double count) {
      return 1 - (1 - 4.0 / SmallQueries::kNodes) * std::pow(1 - 1.0 / SmallQueries::kNodes, count);
    };
    chances.assign(SmallQueries::kNodes, chance(7));
    biased.assign(SmallQueries::kNodes, chance(6));
  }
  const HomePlan plan = small.Plan(query, batch_size);
  VICINITY_ASSERT_OK_AND_ASSIGN(const CalibratedScores result,
                                CalibratedScoresOf(*small.dataset, plan, options, NoProgress()));
  CHECK(result.num_batches == 400 * SmallQueries::kNodes / batch_size);
  CHECK(small.Distance(result, chances) < 1.5);
  CHECK(small.Distance(result, biased) > 5);
}

TEST_CASE("nodes that no answer can need are not in a query's ranking", "[planning]") {
  const SmallQueries small;
  const HomePlan plan = small.Plan("src = nodes(node, $seeds); w = walk(src, links, 1)", 4);
  HomePlan few = plan;
  for (HomeSeeds& home : few.seeds) home.nodes.resize(3);
  VICINITY_ASSERT_OK_AND_ASSIGN(const CalibratedScores result,
                                CalibratedScoresOf(*small.dataset, few, {}, NoProgress()));
  std::set<int64_t> near;
  for (const int64_t node : few.seeds.front().nodes) {
    const int64_t seed = small.placement.PositionOf(NodeTypeId{0}, GlobalNode{node});
    near.insert(seed);
    for (const testing::InEdge& edge : small.lists[seed]) near.insert(edge.source);
  }
  REQUIRE(near.size() > 3);
  for (int64_t node = 0; node < SmallQueries::kNodes; ++node) {
    const int64_t position = small.placement.PositionOf(NodeTypeId{0}, GlobalNode{node});
    CHECK((result.scores.at(NodeTypeId{0}, GlobalNode{node}, 0) > 0) == (near.count(position) > 0));
  }
}

TEST_CASE("a query's answers cannot be ranked without sampling them, nor rows that they never need",
          "[planning]") {
  const testing::MemoryGraph graph = testing::TypedGraph(150, 100, 10, 2);
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 4, 3), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  VipRequest request;
  request.batch_size = 4;
  VICINITY_ASSERT_OK_AND_ASSIGN(
      request.query,
      ParseQuery("src = nodes(user, $seeds); bought = layer(src, item:bought_by:user, 6, "
                 "columns=[features])"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan,
                                PlanHomes(*dataset, AssignmentOf(dataset->book()), request));
  VICINITY_CHECK_CODE(CalibratedScoresOf(*dataset, plan, {0, 0}, NoProgress()).status(),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_ASSERT_OK_AND_ASSIGN(const CalibratedScores result,
                                CalibratedScoresOf(*dataset, plan, {}, NoProgress()));
  const auto sum = [&](int type) {
    const std::vector<float>& values = result.scores.values[type];
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  CHECK(sum(0) == 0);  // users are drawn from alone
  CHECK(sum(1) > 0);
  CHECK(sum(2) == 0);
}

TEST_CASE("a query's own ranking leaves fewer remote rows than one for minibatches does",
          "[planning]") {
  Fixture fixture;
  const Assignment& assignment = fixture.assignment;
  VipRequest request;
  request.batch_size = 16;
  request.seeds = "all";
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan minibatches,
                                PlanHomes(*fixture.dataset, assignment, request));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      request.query, ParseQuery("src = nodes(node, $seeds); near = visited(src, link, 10, "
                                "length=3, num_walks=20)"));
  VICINITY_ASSERT_OK_AND_ASSIGN(fixture.plan, PlanHomes(*fixture.dataset, assignment, request));
  const VipScores own = Calibrated(*fixture.dataset, fixture.plan);
  const VipScores of_minibatches = Calibrated(*fixture.dataset, minibatches);
  constexpr int64_t kCacheRows = 500;
  const double with_own = fixture.Measure(own, kCacheRows);
  const double with_other = fixture.Measure(of_minibatches, kCacheRows);
  CAPTURE(with_own, with_other);
  CHECK(with_own < 0.99 * with_other);
  CHECK(fixture.Expect(own, 0) == Approx(fixture.Measure(own, 0)).epsilon(0.02));
  CHECK(fixture.Expect(own, kCacheRows) == Approx(with_own).epsilon(0.03));
}

}  // namespace
}  // namespace vicinity

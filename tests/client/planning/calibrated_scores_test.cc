#include "client/planning/calibrated_scores.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cache/vip/vip.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
#include "partition/cut/assigner.h"
#include "partition/cut/hash_assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/ingest/generate_block_model.h"
#include "partition/schema/sampling_spec.h"
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

}  // namespace
}  // namespace vicinity

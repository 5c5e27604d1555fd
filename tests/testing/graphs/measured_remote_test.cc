#include "tests/testing/graphs/measured_remote.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/vip/vip.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
#include "partition/cut/assigner.h"
#include "partition/cut/hash_assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/ingest/generate_block_model.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {
namespace {

// That many and no more, whatever the precision.
MeasureOptions AtLeast(int64_t num_batches) {
  MeasureOptions options;
  options.least_batches = num_batches;
  options.precision = 1e9;
  return options;
}

struct Fixture {
  explicit Fixture(int64_t num_nodes) {
    BlockModelOptions options;
    options.num_nodes = num_nodes;
    options.average_degree = 12;
    options.num_communities =
        10;  // of 2,000 nodes: in much smaller ones, ways to a node share parts
    options.features.width = 1;
    VICINITY_REQUIRE_OK(GenerateBlockModel(options, folder.File("d"), NoProgress()).status());
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset, Dataset::Open(folder.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(assignment, HashAssigner().Assign(*dataset, 4, NoProgress()));
  }
  void Analyse(const VipRequest& flags) {
    VICINITY_ASSERT_OK_AND_ASSIGN(plan, PlanHomes(*dataset, assignment, flags));
    VICINITY_ASSERT_OK_AND_ASSIGN(scores,
                                  ComputeVip(*dataset, plan.seeds, plan.options, NoProgress()));
  }

  TempDir folder;
  std::unique_ptr<Dataset> dataset;
  Assignment assignment;
  HomePlan plan;
  VipScores scores;
};

TEST_CASE("expected remote rows are those of sampled epochs to 3 percent, for any cache", "[cli]") {
  Fixture fixture(20000);
  VipRequest flags;
  flags.fanouts = {10, 5, 5};
  flags.batch_size = 64;
  flags.expansion = GENERATE(Expansion::kAllNodes, Expansion::kNewNodes);
  flags.homes = "0/1,3";  // shard 2 is nobody's home
  fixture.Analyse(flags);
  const RemoteCurves curves(fixture.scores, fixture.plan, fixture.assignment);
  const std::vector<int64_t> cache_rows = {0, 50, 250, 1000, 2500, 5000};
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const MeasuredRemote measured,
      MeasureRemote(*fixture.dataset, fixture.scores, fixture.plan, fixture.assignment, {},
                    cache_rows, AtLeast(100), NoProgress()));
  CHECK(measured.num_batches == 100);
  for (size_t i = 0; i < cache_rows.size(); ++i) {
    CAPTURE(cache_rows[i], curves.RowsPerBatch(cache_rows[i]), measured.rows[i]);
    CHECK(std::abs(curves.RowsPerBatch(cache_rows[i]) / measured.rows[i] - 1) < 0.03);
  }
}

TEST_CASE("a sample of everything is counted exactly", "[cli]") {
  // Batches of all seeds that take all neighbours leave nothing to chance.
  Fixture fixture(300);
  VipRequest flags;
  flags.fanouts = {-1, -1};
  flags.batch_size = 1000;
  fixture.Analyse(flags);
  const RemoteCurves curves(fixture.scores, fixture.plan, fixture.assignment);
  const std::vector<int64_t> cache_rows = {0, 10, curves.most_remote()};
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const MeasuredRemote measured,
      MeasureRemote(*fixture.dataset, fixture.scores, fixture.plan, fixture.assignment, {},
                    cache_rows, AtLeast(1), NoProgress()));
  CHECK(measured.num_batches == 4);  // one a home
  for (size_t i = 0; i < cache_rows.size(); ++i) {
    CHECK(measured.rows[i] == Approx(curves.RowsPerBatch(cache_rows[i])));
  }
  CHECK(measured.rows.back() == 0);
}

TEST_CASE("sampling goes on until the count is precise, or told to stop", "[cli]") {
  Fixture fixture(300);
  VipRequest flags;
  flags.fanouts = {2};
  flags.batch_size = 1;
  fixture.Analyse(flags);
  const auto num_batches = [&](double precision, int64_t most) {
    MeasureOptions options;
    options.least_batches = 40;
    options.most_batches = most;
    options.precision = precision;
    const std::vector<int64_t> cache_rows = {0};
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const MeasuredRemote measured,
        MeasureRemote(*fixture.dataset, fixture.scores, fixture.plan, fixture.assignment, {},
                      cache_rows, options, NoProgress()));
    return measured.num_batches;
  };
  const int64_t rough = num_batches(0.05, 1000000);
  const int64_t fine = num_batches(0.01, 1000000);
  CHECK(fine > 10 * rough);
  CHECK(fine < 100 * rough);
  CHECK(num_batches(0.01, 80) == 80);
}

TEST_CASE("nothing sampled is nothing measured", "[cli]") {
  Fixture fixture(300);
  fixture.Analyse(VipRequest());
  const std::vector<int64_t> cache_rows = {0};
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const MeasuredRemote measured,
      MeasureRemote(*fixture.dataset, fixture.scores, fixture.plan, fixture.assignment, {},
                    cache_rows, AtLeast(0), NoProgress()));
  CHECK(measured.num_batches == 0);
}

}  // namespace
}  // namespace vicinity::testing

#include "client/cli/transfer_plan.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "cache/vip.h"
#include "client/cli/expected_remote.h"
#include "client/cli/home_plan.h"
#include "client/cli/line_chart.h"
#include "client/cli/measured_remote.h"
#include "partition/cut/assigner.h"
#include "proto/common/ids.h"

namespace vicinity::cli {
namespace {

// Two homes on two shards; each needs the three remote nodes with 0.75, 0.5 and 0.25.
RemoteCurves Curves() {
  VipScores scores;
  scores.num_homes = 2;
  scores.values = {{1, 0.75F, 1, 0.5F, 1, 0.25F, 0.5F, 1, 0.25F, 1, 0.75F, 1}};
  HomePlan plan;
  plan.homes = {{0}, {1}};
  plan.home_of = {0, 1};
  plan.seeds = {{NodeTypeId{0}, {0}}, {NodeTypeId{0}, {3}}};
  Assignment assignment;
  assignment.num_shards = 2;
  assignment.shard_of = {{0, 0, 0, 1, 1, 1}};
  return RemoteCurves(scores, plan, assignment);
}

TEST_CASE("curves of several homes are their means", "[cli]") {
  const RemoteCurves curves = Curves();
  CHECK(curves.num_homes() == 2);
  CHECK(curves.all_rows() == 4.5);
  CHECK(curves.most_remote() == 3);
  CHECK(curves.rows_by_type()[0] == 1.5);
  CHECK(curves.RowsPerBatch(0) == 1.5);
  CHECK(curves.RowsPerBatch(1) == 0.75);
  CHECK(curves.RowsPerBatch(99) == 0);
  CHECK(curves.CacheFor(2) == 0);
  CHECK(curves.CacheFor(1.5) == 0);
  CHECK(curves.CacheFor(0.8) == 1);
  CHECK(curves.CacheFor(0.25) == 2);
  CHECK(curves.CacheFor(0) == 3);
}

RemoteEstimate Uncorrected(const RemoteCurves& curves) { return {&curves, {}, {}}; }

TEST_CASE("what was sampled corrects the estimate, also between sizes", "[cli]") {
  const RemoteCurves curves = Curves();
  MeasuredRemote measured;
  measured.num_batches = 20000;
  measured.rows = {0.75, 0.6, 0};  // of 1.5, 0.75 and 0 expected
  const std::vector<int64_t> cache_rows = {0, 2, 3};
  const RemoteEstimate estimate(&curves, cache_rows, measured);
  CHECK(estimate.RowsPerBatch(0) == Approx(0.75));
  CHECK(estimate.RowsPerBatch(1) == Approx(0.75 * (0.5 + 2.4) / 2));
  CHECK(estimate.RowsPerBatch(2) == Approx(0.6));
  CHECK(estimate.RowsPerBatch(3) == 0);
  CHECK(estimate.worst_error() == Approx(1));
  CHECK(estimate.CacheFor(0.6) == 2);

  measured.num_batches = 5000;  // enough to correct, not to tell an error
  CHECK(RemoteEstimate(&curves, cache_rows, measured).RowsPerBatch(0) == Approx(0.75));
  CHECK(RemoteEstimate(&curves, cache_rows, measured).worst_error() == 0);
  measured.num_batches = 10;  // some rows, which tell nothing
  const RemoteEstimate unsure(&curves, cache_rows, measured);
  CHECK(unsure.RowsPerBatch(0) == 1.5);
  CHECK(unsure.worst_error() == 0);
}

TEST_CASE("corrections are taken at the reported sizes and at many more", "[cli]") {
  const RemoteCurves curves = Curves();
  CHECK(CorrectedSizes(curves, {}) == std::vector<int64_t>{0, 1, 2, 3});
  const std::vector<ExpectedRemote::Point> reported = {{0.5, 9, 0}, {0, 0, 0}};
  CHECK(CorrectedSizes(curves, reported) == std::vector<int64_t>{0, 1, 2, 3, 9});
}

TEST_CASE("seconds are those of the busiest link", "[cli]") {
  TransferModel model;
  model.row_bytes = 1e9;
  model.link_gbps = 8;  // a gigabyte a second
  model.num_homes = 2;
  model.num_shards = 4;
  model.steps = 10;
  const RemoteCurves curves = Curves();
  const RemoteEstimate estimate = Uncorrected(curves);
  TransferCost cost = CostOf(estimate, model, 1);
  CHECK(cost.rows == 0.75);
  CHECK(cost.batch_bytes == Approx(0.75e9));
  CHECK(cost.batch_seconds == Approx(0.75));
  CHECK(cost.epoch_rows == Approx(0.75 * 2 * 10));
  CHECK(cost.epoch_seconds == Approx(7.5));
  model.trainers_per_home = 3;  // share their machine's link
  CHECK(CostOf(estimate, model, 1).batch_seconds == Approx(3 * 0.75));
  model.num_shards = 1;  // all rows leave one machine
  CHECK(CostOf(estimate, model, 1).batch_seconds == Approx(6 * 0.75));
}

TransferPlan Plan() {
  const RemoteCurves curves = Curves();
  TransferPlan plan;
  plan.model.row_bytes = 100;
  plan.all_rows = 4.5;
  for (const int64_t cache_rows : {0, 1, 3}) {
    plan.sizes.push_back(CostOf(Uncorrected(curves), plan.model, cache_rows));
    plan.sizes.back().share = static_cast<double>(cache_rows) / 10;
    plan.vip_rows.push_back(plan.sizes.back().rows);
  }
  plan.sampled_batches = 100;
  plan.curve = CurveOf(Uncorrected(curves), curves, CorrectedSizes(curves, {}));
  return plan;
}

TEST_CASE("an analysis that is off says so", "[cli]") {
  TransferPlan plan = Plan();
  const auto text = [&] {
    std::ostringstream out;
    PrintTransferPlan(plan, out);
    return out.str();
  };
  CHECK_THAT(text(), Catch::Contains("0.0 %") && !Catch::Contains("independent"));
  plan.worst_error = 0.25;
  CHECK_THAT(text(), Catch::Contains("25.0 %") && Catch::Contains("independent"));
  plan.sampled_batches = 0;
  CHECK_THAT(text(), Catch::Contains("Not checked"));
}

TEST_CASE("answers are told as text and as JSON, sizes as a chart", "[cli]") {
  TransferPlan plan = Plan();
  plan.wish = "1 remote rows a batch";
  plan.enough = plan.sizes[1];
  plan.before = plan.sizes[0];
  plan.more = plan.sizes[1];
  std::ostringstream text;
  PrintTransferPlan(plan, text);
  CHECK_THAT(text.str(), Catch::Contains("For 1 remote rows a batch: a cache of 1 rows") &&
                             Catch::Contains("0.8 rows"));
  const nlohmann::ordered_json json = TransferPlanJson(plan);
  CHECK(json["by_cache_size"][1]["cache_bytes"] == 100);
  CHECK(json["by_cache_size"][1]["vip_rows_per_batch"] == 0.75);
  CHECK(json["enough"]["cache_rows"] == 1);
  CHECK(json["before"]["remote_rows_per_batch"] == 1.5);
  CHECK(json["more"]["remote_rows_per_batch"] == 0.75);
  const LineChart chart = TransferChart(plan, "graph");
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[0].points ==
        std::vector<std::pair<double, double>>{{0, 1.5}, {1, 0.75}, {2, 0.25}, {3, 0}});
}

}  // namespace
}  // namespace vicinity::cli

#include "client/planning/transfer_plan.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "cache/vip/vip.h"
#include "client/cli/output/line_chart.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
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

// What the curves say, at every size.
RemoteEstimate Alone(const RemoteCurves& curves) {
  std::vector<double> rows;
  for (int64_t size = 0; size <= 3; ++size) rows.push_back(curves.RowsPerBatch(size));
  return {{0, 1, 2, 3}, rows};
}

TEST_CASE("between sizes rows are interpolated, beyond them they stay", "[cli]") {
  const RemoteEstimate estimate({0, 10, 30}, {8, 4, 1});
  CHECK(estimate.RowsPerBatch(0) == 8);
  CHECK(estimate.RowsPerBatch(5) == Approx(6));
  CHECK(estimate.RowsPerBatch(10) == 4);
  CHECK(estimate.RowsPerBatch(20) == Approx(2.5));
  CHECK(estimate.RowsPerBatch(99) == 1);
  CHECK(estimate.CacheFor(9) == 0);
  CHECK(estimate.CacheFor(6) == 5);
  CHECK(estimate.CacheFor(1) == 30);
  CHECK(estimate.CacheFor(0.5) == 30);
}

TEST_CASE("rows are worked out at the reported sizes and at others", "[cli]") {
  const RemoteCurves curves = Curves();
  CHECK(PlannedSizes(curves, {}) == std::vector<int64_t>{0, 1, 2, 3});
  const std::vector<ExpectedRemote::Point> reported = {{0.5, 9, 0}, {0, 0, 0}};
  CHECK(PlannedSizes(curves, reported) == std::vector<int64_t>{0, 1, 2, 3, 9});
}

TEST_CASE("seconds are those of the busiest link", "[cli]") {
  TransferModel model;
  model.row_bytes = 1e9;
  model.link_gbps = 8;  // a gigabyte a second
  model.num_homes = 2;
  model.num_shards = 4;
  model.steps = 10;
  const RemoteCurves curves = Curves();
  const RemoteEstimate estimate = Alone(curves);
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

// Of a loader that fetches half of what a batch alone would.
TransferPlan Plan() {
  const RemoteCurves curves = Curves();
  TransferPlan plan;
  plan.model.row_bytes = 100;
  plan.all_rows = 4.5;
  plan.alone = Alone(curves);
  plan.estimate = RemoteEstimate({0, 1, 2, 3}, {0.75, 0.375, 0.125, 0});
  plan.loader = {"cache auto", 1200, 400};
  for (const int64_t cache_rows : {0, 1, 3}) {
    plan.sizes.push_back(CostOf(*plan.estimate, plan.model, cache_rows));
    plan.sizes.back().share = static_cast<double>(cache_rows) / 10;
    plan.alone_rows.push_back(plan.alone->RowsPerBatch(cache_rows));
  }
  return plan;
}

TEST_CASE("a plan says which loader its figures are of, or that they are the formula's", "[cli]") {
  TransferPlan plan = Plan();
  const auto text = [&] {
    std::ostringstream out;
    PrintTransferPlan(plan, out);
    return out.str();
  };
  CHECK_THAT(text(), Catch::Contains("Loader: cache auto.") &&
                         Catch::Contains("1,200 sampled batches, 800 of them to warm") &&
                         Catch::Contains("remote rows a batch") && Catch::Contains("of one alone"));
  CHECK(TransferChart(plan, "graph").series.size() == 2);
  plan.loader.reset();
  CHECK_THAT(text(), Catch::Contains("By the VIP formula, of a batch alone") &&
                         !Catch::Contains("of one alone"));
  CHECK(TransferPlanJson(plan)["loader"].is_null());
  CHECK(TransferChart(plan, "graph").series.size() == 1);
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
                             Catch::Contains("0.4 rows"));
  const nlohmann::ordered_json json = TransferPlanJson(plan);
  CHECK(json["by_cache_size"][1]["cache_bytes"] == 100);
  CHECK(json["by_cache_size"][1]["alone_rows_per_batch"] == 0.75);
  CHECK(json["by_cache_size"][1]["remote_rows_per_batch"] == 0.375);
  CHECK(json["loader"] == "cache auto");
  CHECK(json["counted_batches"] == 400);
  CHECK(json["enough"]["cache_rows"] == 1);
  CHECK(json["before"]["remote_rows_per_batch"] == 0.75);
  CHECK(json["more"]["remote_rows_per_batch"] == 0.375);
  const LineChart chart = TransferChart(plan, "graph");
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[0].points ==
        std::vector<std::pair<double, double>>{{0, 0.75}, {1, 0.375}, {2, 0.125}, {3, 0}});
}

}  // namespace
}  // namespace vicinity::cli

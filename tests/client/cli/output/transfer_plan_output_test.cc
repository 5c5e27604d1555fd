#include "client/cli/output/transfer_plan_output.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "client/cli/output/line_chart.h"
#include "client/planning/transfer_plan.h"

namespace vicinity::cli {
namespace {

// Of a loader that fetches half of what a batch alone would.
TransferPlan Plan() {
  TransferPlan plan;
  plan.model.row_bytes = 100;
  plan.all_rows = 4.5;
  plan.alone = RemoteEstimate({0, 1, 2, 3}, {1.5, 0.75, 0.25, 0});
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
  CHECK(TransferPlanJson(plan)["sampled_batches"] == 0);
  CHECK(TransferChart(plan, "graph").series.size() == 1);
  plan.query_batches = 96;
  CHECK_THAT(text(), Catch::Contains("By 96 sampled answers of the query, each alone") &&
                         !Catch::Contains("VIP"));
  CHECK(TransferPlanJson(plan)["sampled_batches"] == 96);
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

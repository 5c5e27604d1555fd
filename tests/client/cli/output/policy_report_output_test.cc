#include "client/cli/output/policy_report_output.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/cli/output/line_chart.h"
#include "client/planning/policy_report.h"

namespace vicinity::cli {
namespace {

PolicyReport Report() {
  PolicyReport report;
  report.num_trainers = 2;
  report.num_epochs = 2;
  report.depth = 3;
  report.batches = 10;
  report.used = 2000;
  report.sizes = {{0.5, 50}, {0.1, 10}};
  report.lines = {{"none", {{1500, 8, 9}, {1600, 8, 9}}},
                  {"next-use-9", {{500, 50, 50}, {900, 10, 10}}}};
  return report;
}

TEST_CASE("a report on policies is a table", "[cli]") {
  std::stringstream table;
  PrintPolicyReport(Report(), table);
  CHECK_THAT(table.str(), Catch::Contains("next-use-9") && Catch::Contains("0.5 (50)") &&
                              Catch::Contains("1,500") && Catch::Contains("25.0 %") &&
                              Catch::Contains("2 trainers, 2 epochs"));
}

TEST_CASE("a report on policies is JSON, with raw numbers", "[cli]") {
  const nlohmann::json json = PolicyReportJson(Report());
  CHECK(json["trainers"] == 2);
  CHECK(json["sizes"][1]["total_rows"] == 10);
  REQUIRE(json["policies"].size() == 2);
  CHECK(json["policies"][0]["policy"] == "none");
  CHECK(json["policies"][0]["rows_fetched_per_epoch"] == std::vector<double>{1500, 1600});
  CHECK(json["policies"][1]["most_memory_rows"] == std::vector<double>{50, 10});
  CHECK(json["rows_used_per_epoch"] == 2000);
}

TEST_CASE("a report on policies is a chart, sizes rising however they were asked for", "[cli]") {
  PolicyReport report = Report();
  const LineChart chart = PolicyChart(report, "graph");
  REQUIRE(chart.series.size() == 2);
  CHECK_FALSE(chart.log_x);
  CHECK(chart.series[0].points[0].first == 0.1);
  CHECK(chart.series[0].points[1].second == 1500);
  report.sizes[1].replication = 0.05;
  CHECK(PolicyChart(report, "graph").log_x);
}

}  // namespace
}  // namespace vicinity::cli

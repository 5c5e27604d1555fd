#include "client/cli/output/partition_report_output.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/planning/graph_cut.h"

namespace vicinity::cli {
namespace {

PartitionReport Example() {
  PartitionReport report;
  report.dataset = "cora";
  report.fingerprint = 0xFEDCBA9876543210;
  report.assigner = "metis";
  report.num_shards = 2;
  report.num_nodes = 2708;
  report.cut.num_edges = 1000;
  report.cut.cut_edges = 125;
  report.cut.loads = {{"nodes", {1400, 1308}, 1400 / 1354.}, {"row bytes", {4096, 2048}, 4 / 3.}};
  report.cut.halo_nodes = {10, 30};
  return report;
}

TEST_CASE("a report's table shows cut, loads and halo for people", "[cli]") {
  std::ostringstream out;
  PrintPartitionReport(Example(), out);
  CHECK(out.str() ==
        "cora: 2,708 nodes, 1,000 edges, 2 shards by metis\n"
        "Edges cut: 125 (12.5 %)\n"
        "\n"
        "a shard's     least     mean     most  most / mean\n"
        "nodes         1,308    1,354    1,400        1.034\n"
        "row bytes   2.0 KiB  3.0 KiB  4.0 KiB        1.333\n"
        "halo nodes       10       20       30        1.500\n");
}

TEST_CASE("a report's JSON has raw numbers, and expectations where there are any", "[cli]") {
  PartitionReport report = Example();
  nlohmann::ordered_json json = PartitionReportJson(report);
  CHECK(json["fingerprint"] == "fedcba9876543210");
  CHECK(json["cut_share"] == 0.125);
  CHECK(json["loads"][1]["what"] == "row bytes");
  CHECK(json["loads"][1]["by_shard"] == std::vector<int64_t>{4096, 2048});
  CHECK(json["halo_nodes"] == std::vector<int64_t>{10, 30});
  CHECK_FALSE(json.contains("expected"));

  report.ranking.set_name("default");
  report.expected.emplace();
  report.expected->rows = 7;
  json = PartitionReportJson(report);
  CHECK(json["expected"]["rows_per_batch"] == 7);
  CHECK(json["ranking"]["name"] == "default");
  std::ostringstream out;
  PrintPartitionReport(report, out);
  CHECK_THAT(out.str(),
             Catch::Contains("Ranking \"default\"") && Catch::Contains("A batch needs 7 rows."));
}

TEST_CASE("a graph without edges has a report too", "[cli]") {
  PartitionReport report = Example();
  report.cut.num_edges = 0;
  report.cut.cut_edges = 0;
  report.cut.halo_nodes = {0, 0};
  std::ostringstream out;
  PrintPartitionReport(report, out);
  CHECK_THAT(out.str(), Catch::Contains("Edges cut: 0 (0.0 %)"));
  CHECK(PartitionReportJson(report)["cut_share"] == 0);
}

}  // namespace
}  // namespace vicinity::cli

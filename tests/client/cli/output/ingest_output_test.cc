#include "client/cli/output/ingest_output.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

namespace vicinity::cli {
namespace {

IngestReport Example() {
  IngestReport report;
  IngestReport::Nodes nodes;
  nodes.name = "paper";
  nodes.count = 1234;
  nodes.isolated = 5;
  nodes.num_classes = 7;
  nodes.labelled = 1000;
  nodes.train = 140;
  report.nodes.push_back(nodes);
  IngestReport::Edges edges;
  edges.name = "paper:cites:paper";
  edges.read = 5000;
  edges.duplicates_dropped = 3;
  edges.stored = 4997;
  edges.max_degree = 168;
  report.edges.push_back(edges);
  return report;
}

TEST_CASE("what was read, dropped and stored is shown as tables", "[cli]") {
  std::ostringstream out;
  PrintIngest(Example(), "d", OutputFormat::kTable, out);
  CHECK(
      out.str() ==
      "nodes  count  isolated  classes  labelled  train  validation  test\n"
      "paper  1,234         5        7     1,000    140           0     0\n"
      "\n"
      "edges               read  reversed  self-loops dropped  duplicates dropped  stored  max "
      "in-degree\n"
      "paper:cites:paper  5,000         0                   0                   3   4,997          "
      "  168\n");
}

TEST_CASE("and as JSON with raw numbers", "[cli]") {
  std::ostringstream out;
  PrintIngest(Example(), "d", OutputFormat::kJson, out);
  const nlohmann::json json = nlohmann::json::parse(out.str());
  CHECK(json["directory"] == "d");
  CHECK(json["nodes"][0]["count"] == 1234);
  CHECK(json["nodes"][0]["labelled"] == 1000);
  CHECK(json["edges"][0]["duplicates_dropped"] == 3);
  CHECK(json["edges"][0]["stored"] == 4997);
}

}  // namespace
}  // namespace vicinity::cli

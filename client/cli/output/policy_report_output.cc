#include "client/cli/output/policy_report_output.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/output/line_chart.h"
#include "client/cli/output/output.h"
#include "client/planning/policy_report.h"
#include "proto/common/human_text.h"

namespace vicinity::cli {
namespace {

std::string SizeText(const PolicyReport::Size& size) {
  return absl::StrFormat("%g (%s)", size.replication, HumanCount(size.total_rows));
}

}  // namespace

void PrintPolicyReport(const PolicyReport& report, std::ostream& out) {
  out << "Remote rows fetched an epoch, of " << HumanCount(std::llround(report.used)) << " used in "
      << HumanCount(std::llround(report.batches)) << " batches; " << report.num_trainers
      << (report.num_trainers == 1 ? " trainer, " : " trainers, ") << report.num_epochs
      << (report.num_epochs == 1 ? " epoch, " : " epochs, ") << report.depth
      << " batches in flight.\nColumns: rows in memory, those of batches in flight included, as a "
         "share of a mean shard.\n\n";
  std::vector<Table::Column> columns = {{"policy", Table::Align::kLeft}};
  for (const PolicyReport::Size& size : report.sizes) {
    columns.push_back({SizeText(size), Table::Align::kRight});
  }
  Table table(columns);
  for (const PolicyReport::Line& line : report.lines) {
    std::vector<std::string> cells = {line.policy};
    for (const PolicyReport::Cell& cell : line.cells) {
      const double share = report.used > 0 ? cell.fetched / report.used : 0;
      cells.push_back(
          absl::StrFormat("%s %7s", HumanCount(std::llround(cell.fetched)), HumanPercent(share)));
    }
    table.AddRow(cells);
  }
  table.Print(out);
}

nlohmann::ordered_json PolicyReportJson(const PolicyReport& report) {
  nlohmann::ordered_json json;
  json["trainers"] = report.num_trainers;
  json["epochs"] = report.num_epochs;
  json["depth"] = report.depth;
  json["batches_per_epoch"] = report.batches;
  json["rows_used_per_epoch"] = report.used;
  json["sizes"] = nlohmann::ordered_json::array();
  for (const PolicyReport::Size& size : report.sizes) {
    json["sizes"].push_back({{"replication", size.replication}, {"total_rows", size.total_rows}});
  }
  json["policies"] = nlohmann::ordered_json::array();
  for (const PolicyReport::Line& line : report.lines) {
    nlohmann::ordered_json policy = {{"policy", line.policy}};
    for (const PolicyReport::Cell& cell : line.cells) {
      policy["rows_fetched_per_epoch"].push_back(cell.fetched);
      policy["memory_rows"].push_back(cell.held);
      policy["most_memory_rows"].push_back(cell.most_held);
    }
    json["policies"].push_back(policy);
  }
  return json;
}

LineChart PolicyChart(const PolicyReport& report, const std::string& dataset_name) {
  LineChart chart;
  chart.title = absl::StrCat(dataset_name, ": remote rows fetched an epoch, by cache policy");
  chart.x_label = "rows in memory, as a share of a mean shard";
  chart.y_label = "rows an epoch";
  double least = report.sizes.empty() ? 0 : report.sizes[0].replication;
  double most = least;
  for (const PolicyReport::Size& size : report.sizes) {
    least = std::min(least, size.replication);
    most = std::max(most, size.replication);
  }
  chart.log_x = least > 0 && most >= 8 * least;
  for (const PolicyReport::Line& line : report.lines) {
    LineChart::Series series;
    series.name = line.policy;
    for (size_t i = 0; i < line.cells.size(); ++i) {
      series.points.emplace_back(report.sizes[i].replication, line.cells[i].fetched);
    }
    std::sort(series.points.begin(), series.points.end());
    chart.series.push_back(series);
  }
  return chart;
}

}  // namespace vicinity::cli

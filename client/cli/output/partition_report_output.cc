#include "client/cli/output/partition_report_output.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/output/expected_remote_output.h"
#include "client/cli/output/output.h"
#include "client/cli/output/ranking_output.h"
#include "proto/common/human_text.h"

namespace vicinity::cli {
namespace {

double CutShare(const CutReport& cut) {
  return cut.num_edges == 0
             ? 0
             : static_cast<double>(cut.cut_edges) / static_cast<double>(cut.num_edges);
}

double Imbalance(const std::vector<int64_t>& loads) {
  const int64_t total = std::accumulate(loads.begin(), loads.end(), int64_t{0});
  if (total == 0) return 1;
  return static_cast<double>(*std::max_element(loads.begin(), loads.end())) *
         static_cast<double>(loads.size()) / static_cast<double>(total);
}

void AddLoadRow(const std::string& what, const std::vector<int64_t>& loads, double imbalance,
                Table* table) {
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
  const int64_t total = std::accumulate(loads.begin(), loads.end(), int64_t{0});
  const bool bytes = what == "row bytes";
  const auto text = [bytes](int64_t value) {
    return bytes ? HumanBytes(value) : HumanCount(value);
  };
  table->AddRow({what, text(*least), text(total / static_cast<int64_t>(loads.size())), text(*most),
                 HumanRatio(imbalance)});
}

}  // namespace

void PrintPartitionReport(const PartitionReport& report, std::ostream& out) {
  out << report.dataset << ": " << HumanCount(report.num_nodes) << " nodes, "
      << HumanCount(report.cut.num_edges) << " edges, " << report.num_shards << " shards by "
      << report.assigner << '\n'
      << "Edges cut: " << HumanCount(report.cut.cut_edges) << " ("
      << HumanPercent(CutShare(report.cut)) << ")\n\n";
  Table table({{"a shard's"},
               {"least", Table::Align::kRight},
               {"mean", Table::Align::kRight},
               {"most", Table::Align::kRight},
               {"most / mean", Table::Align::kRight}});
  for (const CutReport::Load& load : report.cut.loads) {
    AddLoadRow(load.what, load.by_shard, load.imbalance, &table);
  }
  AddLoadRow("halo nodes", report.cut.halo_nodes, Imbalance(report.cut.halo_nodes), &table);
  table.Print(out);
  if (!report.expected.has_value()) return;
  out << '\n' << RankingText(report.ranking) << '\n';
  PrintExpectedRemote(*report.expected, /*of_loader=*/true, out);
}

nlohmann::ordered_json PartitionReportJson(const PartitionReport& report) {
  nlohmann::ordered_json json;
  json["dataset"] = report.dataset;
  json["fingerprint"] = absl::StrFormat("%016x", report.fingerprint);  // 64 bits: no JSON number
  json["assigner"] = report.assigner;
  json["num_shards"] = report.num_shards;
  json["num_nodes"] = report.num_nodes;
  json["num_edges"] = report.cut.num_edges;
  json["cut_edges"] = report.cut.cut_edges;
  json["cut_share"] = CutShare(report.cut);
  json["loads"] = nlohmann::ordered_json::array();
  for (const CutReport::Load& load : report.cut.loads) {
    json["loads"].push_back(
        {{"what", load.what}, {"by_shard", load.by_shard}, {"max_over_mean", load.imbalance}});
  }
  json["halo_nodes"] = report.cut.halo_nodes;
  if (report.expected.has_value()) {
    json["ranking"] = RankingJson(report.ranking);
    json["expected"] = ExpectedRemoteJson(*report.expected);
  }
  return json;
}

}  // namespace vicinity::cli

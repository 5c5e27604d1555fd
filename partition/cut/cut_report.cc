#include "partition/cut/cut_report.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/cut/node_facts.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {
namespace {

using Loads = std::vector<int64_t>;

constexpr std::array<std::pair<Split, const char*>, 4> kRoles = {{
    {Split::kTrain, "train nodes"},
    {Split::kValidation, "validation nodes"},
    {Split::kTest, "test nodes"},
    {Split::kNone, "other nodes"},
}};

void AddLoad(std::string what, Loads loads, CutReport* report) {
  const int64_t total = std::accumulate(loads.begin(), loads.end(), int64_t{0});
  if (total == 0) return;
  const double mean = static_cast<double>(total) / static_cast<double>(loads.size());
  const double largest = static_cast<double>(*std::max_element(loads.begin(), loads.end()));
  report->loads.push_back({std::move(what), std::move(loads), largest / mean});
}

int64_t RowBytes(const NodeTypeSpec& type) {
  int64_t bytes = 0;
  for (const ColumnSpec& column : type.columns) bytes += column.row_bytes();
  return bytes;
}

// All loads that are counted node by node.
void AddNodeLoads(const Dataset& source, const Assignment& assignment, CutReport* report) {
  const Loads none(assignment.num_shards);
  Loads nodes = none;
  Loads in_edges = none;
  Loads row_bytes = none;
  std::vector<Loads> of_type;
  std::array<Loads, kRoles.size()> of_role;
  of_role.fill(none);
  for (size_t t = 0; t < assignment.shard_of.size(); ++t) {
    const NodeTypeId type{static_cast<int32_t>(t)};
    const std::vector<Split> splits = ReadSplits(source, type);
    const std::vector<int64_t> degrees = InDegrees(source, type);
    const int64_t bytes = RowBytes(source.schema().node_types[t]);
    of_type.push_back(none);
    for (size_t node = 0; node < degrees.size(); ++node) {
      const int32_t shard = assignment.shard_of[t][node];
      const Split split = splits.empty() ? Split::kNone : splits[node];
      ++nodes[shard];
      ++of_type[t][shard];
      in_edges[shard] += degrees[node];
      row_bytes[shard] += bytes;
      for (size_t role = 0; role < kRoles.size(); ++role) {
        if (kRoles[role].first == split) ++of_role[role][shard];
      }
    }
  }
  AddLoad("nodes", std::move(nodes), report);
  for (size_t t = 0; t < of_type.size() && of_type.size() > 1; ++t) {
    AddLoad(absl::StrCat("nodes of type ", source.schema().node_types[t].name),
            std::move(of_type[t]), report);
  }
  for (size_t role = 0; role < kRoles.size(); ++role) {
    AddLoad(kRoles[role].second, std::move(of_role[role]), report);
  }
  AddLoad("in-edges", std::move(in_edges), report);
  AddLoad("row bytes", std::move(row_bytes), report);
}

// The nodes of one type, grouped by shard: those of shard s are [begins[s], begins[s + 1]).
struct Grouped {
  std::vector<int64_t> nodes;
  std::vector<int64_t> begins;
};

Grouped GroupByShard(const std::vector<int32_t>& shard_of, int32_t num_shards) {
  Grouped grouped;
  grouped.begins.assign(num_shards + 1, 0);
  for (const int32_t shard : shard_of) ++grouped.begins[shard + 1];
  std::partial_sum(grouped.begins.begin(), grouped.begins.end(), grouped.begins.begin());
  std::vector<int64_t> cursor(grouped.begins.begin(), grouped.begins.end() - 1);
  grouped.nodes.resize(shard_of.size());
  for (size_t node = 0; node < shard_of.size(); ++node) {
    grouped.nodes[cursor[shard_of[node]]++] = static_cast<int64_t>(node);
  }
  return grouped;
}

// Counts the cut edges and halo of one shard after the other, so that one mark a node tells whether
// it is in the current shard's halo already.
class EdgeCounter {
 public:
  EdgeCounter(const Dataset& source, const Assignment& assignment, CutReport* report)
      : source_(source), assignment_(assignment), report_(report) {
    for (const std::vector<int32_t>& shard_of : assignment.shard_of) {
      nodes_.push_back(GroupByShard(shard_of, assignment.num_shards));
      met_by_.emplace_back(shard_of.size(), -1);
    }
    report_->halo_nodes.assign(assignment.num_shards, 0);
  }

  void CountShard(int32_t shard) {
    const Schema& schema = source_.schema();
    for (int e = 0; e < static_cast<int>(schema.edge_types.size()); ++e) {
      const Grouped& targets = nodes_[schema.edge_types[e].target_type];
      for (int64_t i = targets.begins[shard]; i < targets.begins[shard + 1]; ++i) {
        CountTarget(EdgeTypeId{e}, GlobalNode{targets.nodes[i]}, shard);
      }
    }
  }

 private:
  void CountTarget(EdgeTypeId edge_type, GlobalNode target, int32_t shard) {
    const EdgeTypeSpec& type = source_.schema().edge_types[edge_type.value];
    const NodeTypeId target_type{type.target_type};
    const Shard& stored = *source_.shard(source_.book().OwnerOf(target_type, target));
    const BaseLists edges(stored, edge_type);
    const int64_t row = source_.book().RowOf(target_type, target).value;
    const std::vector<int32_t>& shard_of = assignment_.shard_of[type.source_type];
    std::vector<int32_t>& met_by = met_by_[type.source_type];
    for (int64_t i = edges.begin(row); i < edges.begin(row) + edges.degree(row); ++i) {
      const int64_t neighbor = edges.source(i);
      ++report_->num_edges;
      if (shard_of[neighbor] == shard) continue;
      ++report_->cut_edges;
      if (met_by[neighbor] == shard) continue;
      met_by[neighbor] = shard;
      ++report_->halo_nodes[shard];
    }
  }

  const Dataset& source_;
  const Assignment& assignment_;
  CutReport* const report_;
  std::vector<Grouped> nodes_;                // by type
  std::vector<std::vector<int32_t>> met_by_;  // by type and node: the last shard it was remote to
};

}  // namespace

CutReport ReportCut(const Dataset& source, const Assignment& assignment) {
  CutReport report;
  AddNodeLoads(source, assignment, &report);
  EdgeCounter counter(source, assignment, &report);
  for (int32_t shard = 0; shard < assignment.num_shards; ++shard) counter.CountShard(shard);
  return report;
}

}  // namespace vicinity

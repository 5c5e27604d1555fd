#include "partition/schema/sampling_spec.h"

#include <algorithm>

#include "partition/schema/edge_conditions.h"

namespace vicinity {
namespace {

std::string HopProblem(const Schema& schema, int hop, const std::vector<int64_t>& fanouts) {
  const std::string where = "hop " + std::to_string(hop) + ": ";
  if (fanouts.size() != schema.edge_types.size()) {
    return where + std::to_string(fanouts.size()) + " fanouts for " +
           std::to_string(schema.edge_types.size()) + " edge types";
  }
  for (size_t e = 0; e < fanouts.size(); ++e) {
    if (fanouts[e] < kAllNeighbors || fanouts[e] > kMaxFanout) {
      return where + "fanout " + std::to_string(fanouts[e]) + " of " +
             schema.EdgeTypeName(static_cast<int>(e)) + " is not between 1 and " +
             std::to_string(kMaxFanout) + ", " + std::to_string(kAllNeighbors) +
             " (all neighbours) or 0 (not followed)";
    }
  }
  if (std::all_of(fanouts.begin(), fanouts.end(), [](int64_t fanout) { return fanout == 0; })) {
    return where + "fanout 0 along every edge type";
  }
  return "";
}

std::string WeightProblem(const Schema& schema, const SamplingSpec& spec) {
  if (spec.weighted_by.empty()) return "";
  std::string known;
  for (int e = 0; e < static_cast<int>(schema.edge_types.size()); ++e) {
    if (IsFollowed(spec, e) && IsWeighted(schema, spec, e)) return "";
    const std::string& column = schema.edge_types[e].weight_column;
    if (!column.empty()) known += " " + column + " of " + schema.EdgeTypeName(e);
  }
  return "no edge type that is followed has the weight column " + spec.weighted_by +
         "; there are:" + (known.empty() ? " none" : known);
}

std::string TimeProblem(const Schema& schema, const SamplingSpec& spec) {
  const bool last = spec.temporal_strategy == TemporalStrategy::kLast;
  const bool path = spec.time_follows == TimeFollows::kPath;
  if (spec.time_column.empty()) {
    if (last) return "temporal_strategy last needs a time_column";
    if (path) return "time_follows path needs a time_column";
    if (spec.time_window == -1) return "";
    return "time_window " + std::to_string(spec.time_window) + " needs a time_column";
  }
  if (spec.time_window < -1) {
    return "time_window " + std::to_string(spec.time_window) +
           " is neither a length of time nor -1, for none";
  }
  if (path && spec.subgraph == Subgraph::kInduced) {
    return "time_follows path says nothing of the edges of an induced subgraph";
  }
  if (!spec.disjoint) return "time_column " + spec.time_column + " needs disjoint trees";
  if (last && spec.replace) return "temporal_strategy last draws without replacement";
  if (last && !spec.weighted_by.empty()) return "temporal_strategy last goes by no weight";
  std::string known;
  bool found = false;
  for (int e = 0; e < static_cast<int>(schema.edge_types.size()); ++e) {
    const int named = schema.edge_types[e].FindColumn(spec.time_column);
    const bool asked = IsFollowed(spec, e) && named >= 0;
    if (asked && !HoldsTimes(schema.edge_types[e].columns[named])) {
      return "column " + spec.time_column + " of " + schema.EdgeTypeName(e) +
             " is not of one int64 a row, as times are";
    }
    found = found || asked;
    for (const ColumnSpec& column : schema.edge_types[e].columns) {
      if (HoldsTimes(column)) known += " " + column.name + " of " + schema.EdgeTypeName(e);
    }
  }
  if (found) return "";
  return "no edge type that is followed has a column " + spec.time_column +
         " of one int64 a row; there are:" + (known.empty() ? " none" : known);
}

std::string DrawsProblem(const SamplingSpec& spec) {
  if (spec.draws != Draws::kLabor) {
    if (spec.layer_dependency) return "layer_dependency needs draws labor";
    if (spec.batch_dependency != 1) {
      return "batch_dependency " + std::to_string(spec.batch_dependency) + " needs draws labor";
    }
    return "";
  }
  if (spec.replace) {
    return "draws labor are without replacement: each source has one number for all draws";
  }
  if (spec.temporal_strategy == TemporalStrategy::kLast) {
    return "draws labor are by chance, temporal_strategy last is not";
  }
  if (spec.batch_dependency >= 1) return "";
  return "batch_dependency " + std::to_string(spec.batch_dependency) + " is below 1";
}

std::string ConditionProblem(const Schema& schema, const SamplingSpec& spec) {
  if (spec.where.empty()) return "";
  const auto conditions = ResolveByEdgeType(schema, spec.where);
  if (!conditions.ok()) return "where: " + std::string(conditions.status().message());
  std::string known;
  for (int e = 0; e < static_cast<int>(schema.edge_types.size()); ++e) {
    if (!IsFollowed(spec, e)) continue;
    if ((*conditions)[e] != nullptr) return "";
    for (const ColumnSpec& column : schema.edge_types[e].columns) {
      known += " " + column.name + " of " + schema.EdgeTypeName(e);
    }
  }
  return "where: no edge type that is followed has all the columns of `" + spec.where +
         "`; there are:" + (known.empty() ? " none" : known);
}

}  // namespace

bool IsFollowed(const SamplingSpec& spec, int edge_type) {
  if (spec.fanouts.empty()) return true;
  return std::any_of(
      spec.fanouts.begin(), spec.fanouts.end(),
      [edge_type](const std::vector<int64_t>& fanouts) { return fanouts[edge_type] != 0; });
}

bool HoldsTimes(const ColumnSpec& column) {
  return column.dtype == DType::kInt64 && column.num_values() == 1;
}

int32_t TimeColumnOf(const Schema& schema, const SamplingSpec& spec, int edge_type) {
  if (spec.time_column.empty()) return -1;
  const EdgeTypeSpec& type = schema.edge_types[edge_type];
  const int column = type.FindColumn(spec.time_column);
  return column >= 0 && HoldsTimes(type.columns[column]) ? column : -1;
}

bool IsWeighted(const Schema& schema, const SamplingSpec& spec, int edge_type) {
  return !spec.weighted_by.empty() &&
         schema.edge_types[edge_type].weight_column == spec.weighted_by;
}

SamplingSpec SamplingSpec::Uniform(const Schema& schema, const std::vector<int64_t>& fanouts) {
  SamplingSpec spec;
  for (const int64_t fanout : fanouts) {
    spec.fanouts.emplace_back(schema.edge_types.size(), fanout);
  }
  return spec;
}

std::string SpecProblem(const Schema& schema, const SamplingSpec& spec) {
  if (spec.fanouts.empty() && spec.subgraph != Subgraph::kInduced) {
    return "no hops: fanouts are empty, as those of an induced subgraph alone may be";
  }
  if (schema.edge_types.empty()) return "the graph has no edge types";
  if (spec.num_hops() > kMaxHops) {
    return std::to_string(spec.num_hops()) + " hops, at most " + std::to_string(kMaxHops);
  }
  for (int hop = 0; hop < spec.num_hops(); ++hop) {
    std::string problem = HopProblem(schema, hop, spec.fanouts[hop]);
    if (!problem.empty()) return problem;
  }
  std::string problem = WeightProblem(schema, spec);
  if (problem.empty()) problem = TimeProblem(schema, spec);
  if (problem.empty()) problem = DrawsProblem(spec);
  return problem.empty() ? ConditionProblem(schema, spec) : problem;
}

}  // namespace vicinity

#include "sampler/proximity/ppr_spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

namespace vicinity {
namespace {

// %g, since to_string shows small numbers as 0.000000.
std::string Text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

std::string EdgeTypesProblem(const Schema& schema, const PprSpec& spec, int32_t seed_type) {
  const auto num_types = static_cast<int32_t>(schema.edge_types.size());
  for (size_t i = 0; i < spec.edge_types.size(); ++i) {
    const int32_t type = spec.edge_types[i];
    if (type < 0 || type >= num_types) {
      return "edge type " + std::to_string(type) + " of " + std::to_string(num_types);
    }
    if (std::count(spec.edge_types.begin(), spec.edge_types.end(), type) == 1) continue;
    return "edge type " + schema.EdgeTypeName(type) + " is named twice";
  }
  bool leaves = false;
  bool arrives = spec.node_type < 0 || spec.node_type == seed_type;
  for (const int32_t type : FollowedTypes(schema, spec)) {
    leaves |= schema.edge_types[type].target_type == seed_type;
    arrives |= schema.edge_types[type].source_type == spec.node_type;
  }
  if (!leaves) {
    return "no edge type that is followed leads to seeds, which are of type " +
           schema.node_types[seed_type].name;
  }
  if (arrives) return "";
  return "no edge type that is followed comes from nodes of type " +
         schema.node_types[spec.node_type].name;
}

std::string WeightsProblem(const Schema& schema, const PprSpec& spec) {
  if (spec.weighted_by.empty()) return "";
  std::string known;
  for (const int32_t type : FollowedTypes(schema, spec)) {
    if (IsWeighted(schema, spec, type)) return "";
    const std::string& column = schema.edge_types[type].weight_column;
    if (!column.empty()) known += " " + column + " of " + schema.EdgeTypeName(type);
  }
  return "no edge type that is followed has the weight column " + spec.weighted_by +
         "; there are:" + (known.empty() ? " none" : known);
}

std::string NumbersProblem(const PprSpec& spec) {
  if (!(spec.alpha > 0 && spec.alpha < 1)) {
    return "alpha " + Text(spec.alpha) + " is not above 0 and below 1";
  }
  if (!(spec.eps > 0 && spec.eps <= 1)) {
    return "eps " + Text(spec.eps) + " is not above 0 and at most 1";
  }
  if (spec.alpha * spec.eps < kLeastPprShare) {
    return "alpha " + Text(spec.alpha) + " x eps " + Text(spec.eps) + " is below " +
           Text(kLeastPprShare) + ": a seed could need more edges than memory has room for";
  }
  const int64_t most = spec.max_neighbors;
  if (most != kAllNeighbors && (most < 1 || most > kMaxFanout)) {
    return "max_neighbors " + std::to_string(most) + " is not from 1 to " +
           std::to_string(kMaxFanout) + ", and not -1 for all";
  }
  return "";
}

}  // namespace

std::vector<int32_t> FollowedTypes(const Schema& schema, const PprSpec& spec) {
  if (!spec.edge_types.empty()) return spec.edge_types;
  std::vector<int32_t> all;
  for (size_t type = 0; type < schema.edge_types.size(); ++type) {
    all.push_back(static_cast<int32_t>(type));
  }
  return all;
}

std::string PprProblem(const Schema& schema, const PprSpec& spec, int32_t seed_type,
                       int64_t num_seeds) {
  const auto num_types = static_cast<int32_t>(schema.node_types.size());
  if (spec.node_type < -1 || spec.node_type >= num_types) {
    return "node type " + std::to_string(spec.node_type) + " of " + std::to_string(num_types);
  }
  std::string problem = EdgeTypesProblem(schema, spec, seed_type);
  if (problem.empty()) problem = WeightsProblem(schema, spec);
  if (problem.empty()) problem = NumbersProblem(spec);
  if (!problem.empty()) return problem;
  if (spec.top < 1) return "the " + std::to_string(spec.top) + " highest scores: at least 1";
  if (spec.top <= kMaxPprNodes / std::max<int64_t>(num_seeds, 1)) return "";
  return "the " + std::to_string(spec.top) + " highest scores of each of " +
         std::to_string(num_seeds) + " seeds are more than " + std::to_string(kMaxPprNodes) +
         ": ask for fewer seeds at once";
}

}  // namespace vicinity

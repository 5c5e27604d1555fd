#include "sampler/walk_spec.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace vicinity {
namespace {

std::string MetapathProblem(const Schema& schema, const WalkSpec& spec) {
  const auto num_types = static_cast<int32_t>(schema.edge_types.size());
  if (spec.metapath.empty()) return "no metapath: it names the edge types that steps follow";
  for (const int32_t type : spec.metapath) {
    if (type >= 0 && type < num_types) continue;
    return "metapath: edge type " + std::to_string(type) + " of " + std::to_string(num_types);
  }
  const auto size = static_cast<int64_t>(spec.metapath.size());
  for (int64_t step = 1; step < std::min(spec.length, size + 1); ++step) {
    const EdgeTypeSpec& taken = schema.edge_types[EdgeTypeOfStep(spec, step - 1)];
    const EdgeTypeSpec& next = schema.edge_types[EdgeTypeOfStep(spec, step)];
    if (taken.source_type == next.target_type) continue;
    return "metapath: step " + std::to_string(step) + " along " +
           schema.EdgeTypeName(EdgeTypeOfStep(spec, step)) + " begins at " +
           schema.node_types[next.target_type].name + ", where step " + std::to_string(step - 1) +
           " along " + schema.EdgeTypeName(EdgeTypeOfStep(spec, step - 1)) + " arrives at " +
           schema.node_types[taken.source_type].name;
  }
  return "";
}

std::string WalkWeightProblem(const Schema& schema, const WalkSpec& spec) {
  if (spec.weighted_by.empty()) return "";
  std::string known;
  for (const int32_t type : spec.metapath) {
    const std::string& column = schema.edge_types[type].weight_column;
    if (column == spec.weighted_by) return "";
    if (!column.empty()) known += " " + column + " of " + schema.EdgeTypeName(type);
  }
  return "no edge type of the metapath has the weight column " + spec.weighted_by +
         "; there are:" + (known.empty() ? " none" : known);
}

bool IsBias(double value) { return value >= 1 / kMaxWalkBias && value <= kMaxWalkBias; }

std::string BiasProblem(const Schema& schema, const WalkSpec& spec) {
  const std::string given = "p " + std::to_string(spec.p) + ", q " + std::to_string(spec.q) + ": ";
  if (!IsBias(spec.p) || !IsBias(spec.q)) {
    return given + "both are between 1/64 and 64";
  }
  if (spec.p == 1 && spec.q == 1) return "";
  const EdgeTypeSpec& type = schema.edge_types[spec.metapath.front()];
  const bool one = std::all_of(spec.metapath.begin(), spec.metapath.end(),
                               [&](int32_t each) { return each == spec.metapath.front(); });
  if (one && type.source_type == type.target_type) return "";
  return given + "node2vec walks follow one edge type between nodes of one type";
}

}  // namespace

int32_t NodeTypeOfWalk(const Schema& schema, const WalkSpec& spec, int64_t steps) {
  if (steps == 0) return schema.edge_types[spec.metapath.front()].target_type;
  return schema.edge_types[EdgeTypeOfStep(spec, steps - 1)].source_type;
}

std::string WalkProblem(const Schema& schema, const WalkSpec& spec) {
  if (spec.length < 1 || spec.length > kMaxWalkLength) {
    return "walks of " + std::to_string(spec.length) + " steps, which are 1 to " +
           std::to_string(kMaxWalkLength);
  }
  if (!(spec.restart_prob >= 0 && spec.restart_prob < 1)) {
    return "restart_prob " + std::to_string(spec.restart_prob) + " is not at least 0 and below 1";
  }
  std::string problem = MetapathProblem(schema, spec);
  if (problem.empty()) problem = WalkWeightProblem(schema, spec);
  return problem.empty() ? BiasProblem(schema, spec) : problem;
}

}  // namespace vicinity

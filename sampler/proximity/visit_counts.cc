#include "sampler/proximity/visit_counts.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>

namespace vicinity {
namespace {

// The visited nodes of one start, in the order of their first visits.
class Visits {
 public:
  void Clear() {
    places_.clear();
    visits_.clear();
  }

  void Add(int64_t node) {
    const auto [found, is_new] = places_.try_emplace(node, visits_.size());
    if (is_new) visits_.push_back({node, 0});
    ++visits_[found->second].count;
  }

  // The first `top` by falling count, to where they go; room that is left stays as it is.
  void Take(int64_t top, int64_t* nodes, int64_t* counts) {
    std::stable_sort(visits_.begin(), visits_.end(),
                     [](const Visit& a, const Visit& b) { return a.count > b.count; });
    const auto num_taken = std::min(top, static_cast<int64_t>(visits_.size()));
    for (int64_t i = 0; i < num_taken; ++i) {
      nodes[i] = visits_[i].node;
      counts[i] = visits_[i].count;
    }
  }

 private:
  struct Visit {
    int64_t node;
    int64_t count;
  };
  std::unordered_map<int64_t, size_t> places_;  // in visits_
  std::vector<Visit> visits_;
};

// Steps behind which walks are at nodes that count.
std::vector<int64_t> CountedSteps(const Schema& schema, const VisitSpec& spec) {
  const int32_t type = CountedType(schema, spec);
  std::vector<int64_t> steps;
  for (int64_t step = 1; step <= spec.walk.length; ++step) {
    if (NodeTypeOfWalk(schema, spec.walk, step) == type) steps.push_back(step);
  }
  return steps;
}

}  // namespace

int32_t CountedType(const Schema& schema, const VisitSpec& spec) {
  return spec.node_type >= 0 ? spec.node_type : NodeTypeOfWalk(schema, spec.walk, 0);
}

std::string VisitProblem(const Schema& schema, const VisitSpec& spec, int64_t num_starts) {
  if (std::string problem = WalkProblem(schema, spec.walk); !problem.empty()) return problem;
  const auto num_types = static_cast<int32_t>(schema.node_types.size());
  if (spec.node_type < -1 || spec.node_type >= num_types) {
    return "node type " + std::to_string(spec.node_type) + " of " + std::to_string(num_types);
  }
  if (CountedSteps(schema, spec).empty()) {
    return "walks of " + std::to_string(spec.walk.length) +
           " steps along this metapath never come "
           "to nodes of type " +
           schema.node_types[CountedType(schema, spec)].name;
  }
  if (spec.num_walks < 1)
    return std::to_string(spec.num_walks) + " walks from each start: at least 1";
  if (spec.top < 1) return "the " + std::to_string(spec.top) + " most visited nodes: at least 1";
  const int64_t starts = std::max<int64_t>(num_starts, 1);
  if (spec.num_walks > kMaxWalkNodes / (spec.walk.length + 1) / starts) {
    return std::to_string(spec.num_walks) + " walks of " + std::to_string(spec.walk.length) +
           " steps from each of " + std::to_string(num_starts) + " starts are more than " +
           std::to_string(kMaxWalkNodes) + " nodes: ask for fewer starts at once";
  }
  if (spec.top <= kMaxTopNodes / starts) return "";
  return "the " + std::to_string(spec.top) + " most visited nodes of each of " +
         std::to_string(num_starts) + " starts are more than " + std::to_string(kMaxTopNodes) +
         ": ask for fewer starts at once";
}

std::vector<int64_t> RepeatStarts(const std::vector<int64_t>& starts, int64_t num_walks) {
  std::vector<int64_t> repeated;
  repeated.reserve(starts.size() * num_walks);
  for (const int64_t start : starts) repeated.insert(repeated.end(), num_walks, start);
  return repeated;
}

TopVisited CountVisits(const Schema& schema, const VisitSpec& spec, const Walks& walks) {
  const std::vector<int64_t> steps = CountedSteps(schema, spec);
  const bool leave_out =
      spec.exclude_start && CountedType(schema, spec) == NodeTypeOfWalk(schema, spec.walk, 0);
  const int64_t num_starts = walks.num_walks() / spec.num_walks;
  TopVisited visited;
  visited.top = spec.top;
  visited.nodes.assign(num_starts * spec.top, -1);
  visited.counts.assign(num_starts * spec.top, 0);
  Visits visits;
  for (int64_t start = 0; start < num_starts; ++start) {
    visits.Clear();
    for (int64_t i = 0; i < spec.num_walks; ++i) {
      const int64_t* const nodes =
          walks.nodes.data() + (start * spec.num_walks + i) * (walks.length + 1);
      for (const int64_t step : steps) {
        if (nodes[step] < 0) break;
        if (leave_out && nodes[step] == nodes[0]) continue;
        visits.Add(nodes[step]);
      }
    }
    visits.Take(spec.top, visited.nodes.data() + start * spec.top,
                visited.counts.data() + start * spec.top);
  }
  return visited;
}

}  // namespace vicinity

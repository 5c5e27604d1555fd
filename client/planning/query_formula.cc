#include "client/planning/query_formula.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "client/query/query.h"
#include "sampler/walk_spec.h"

namespace vicinity {
namespace {

constexpr int kNowhere = -1;  // not reached from the seeds by edges
constexpr int64_t kPprHops = 3;

class Hops {
 public:
  Hops(const Schema& schema, int64_t batch_size)
      : num_edge_types_(schema.edge_types.size()), batch_size_(batch_size) {}

  const std::vector<std::vector<int64_t>>& fanouts() const { return fanouts_; }

  // Adds what a step follows from nodes at distance `from`; how far off its own nodes are.
  int Follow(const ResolvedStep& step, int from) {
    const QueryStep& asked = step.step;
    switch (asked.kind) {
      case StepKind::kNodes:
        return asked.input.empty() ? kNowhere : 0;
      case StepKind::kNegatives:
      case StepKind::kInduced:
        return kNowhere;
      default:
        break;
    }
    if (from == kNowhere) return kNowhere;
    switch (asked.kind) {
      case StepKind::kLayer:
        Add(from, step.edge_type.value, std::max<int64_t>(1, asked.count / batch_size_));
        return from + 1;
      case StepKind::kWalk:
        return FollowWalk(step.walk, from, 1);
      case StepKind::kVisited:
        return FollowWalk(step.walk, from, std::min(asked.num_walks, asked.top));
      case StepKind::kPpr:
        return FollowPpr(step, from);
      default:
        Add(from, step.edge_type.value, asked.count);
        return from + 1;
    }
  }

 private:
  int FollowWalk(const WalkSpec& walk, int from, int64_t first) {
    const auto length = static_cast<int>(std::min<int64_t>(walk.length, kMaxHops));
    for (int step = 0; step < length; ++step) {
      Add(from + step, EdgeTypeOfStep(walk, step), step == 0 ? first : 1);
    }
    return from + length;
  }

  int FollowPpr(const ResolvedStep& step, int from) {
    std::vector<int32_t> types = step.ppr.edge_types;
    if (types.empty()) {
      for (size_t type = 0; type < num_edge_types_; ++type) {
        types.push_back(static_cast<int32_t>(type));
      }
    }
    for (int hop = 0; hop < kPprHops; ++hop) {
      for (const int32_t type : types) Add(from + hop, type, hop == 0 ? step.step.top : 1);
    }
    return from + kPprHops;
  }

  void Add(int hop, int32_t edge_type, int64_t count) {
    if (hop >= kMaxHops) return;
    while (hop >= static_cast<int>(fanouts_.size())) fanouts_.emplace_back(num_edge_types_);
    int64_t& fanout = fanouts_[hop][edge_type];
    const bool all = fanout == kAllNeighbors || count == kAllNeighbors;
    // No hop is without any, whatever the step is asked for.
    fanout = all ? kAllNeighbors : std::min(fanout + std::max<int64_t>(count, 1), kMaxFanout);
  }

  const size_t num_edge_types_;
  const int64_t batch_size_;
  std::vector<std::vector<int64_t>> fanouts_;
};

}  // namespace

SamplingSpec MinibatchesLike(const Schema& schema, absl::Span<const ResolvedStep> steps,
                             int64_t batch_size) {
  SamplingSpec spec;
  Hops hops(schema, batch_size);
  std::vector<int> distances;
  for (const ResolvedStep& step : steps) {
    distances.push_back(hops.Follow(step, step.from < 0 ? kNowhere : distances[step.from]));
    if (spec.weighted_by.empty() && distances.back() > 0) {
      const bool walks =
          step.step.kind != StepKind::kNeighbors && step.step.kind != StepKind::kLayer;
      spec.weighted_by = walks ? step.step.weighted_by : step.step.by;
    }
  }
  spec.fanouts = hops.fanouts();
  if (spec.fanouts.empty())
    spec.fanouts.assign(1, std::vector<int64_t>(schema.edge_types.size(), 1));
  spec.expansion = Expansion::kNewNodes;
  // A weight that only edge types beyond the hops have.
  if (!SpecProblem(schema, spec).empty()) spec.weighted_by.clear();
  return spec;
}

}  // namespace vicinity

#include "client/query/walk_makers.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "client/shards/routed_walks.h"
#include "client/shards/routed_weights.h"
#include "proto/common/status.h"
#include "sampler/proximity/forward_push.h"
#include "sampler/proximity/ppr_spec.h"
#include "sampler/proximity/visit_counts.h"
#include "sampler/walk_spec.h"

namespace vicinity {
namespace {

// Rows of `width` nodes each, -1 behind the last of them.
StepLists WithoutPadding(absl::Span<const int64_t> nodes, int64_t num_rows, int64_t width) {
  StepLists lists;
  lists.offsets.push_back(0);
  for (int64_t row = 0; row < num_rows; ++row) {
    for (const int64_t node : nodes.subspan(row * width, width)) {
      if (node >= 0) lists.nodes.push_back(node);
    }
    lists.offsets.push_back(static_cast<int64_t>(lists.nodes.size()));
  }
  return lists;
}

}  // namespace

absl::StatusOr<StepLists> MakeWalks(const ShardRouter& router, const ResolvedStep& step,
                                    absl::Span<const int64_t> starts, const StepDraw& draw,
                                    const CallContext& context, StepAnswer* answer) {
  const WalkSpec& spec = step.walk;
  VICINITY_RETURN_IF_ERROR(
      CheckSize(step, static_cast<int64_t>(starts.size()) * (spec.length + 1)));
  VICINITY_ASSIGN_OR_RETURN(
      Walks walks, RouteWalks(router, spec, starts, draw.Own(step), step.step.edge_ids, context));
  for (int64_t made = 0; made <= spec.length; ++made) {
    answer->walk_types.push_back(NodeTypeOfWalk(router.schema(), spec, made));
  }
  StepLists lists;
  lists.offsets.push_back(0);
  for (int64_t walk = 0; walk < walks.num_walks(); ++walk) {
    const int64_t* const nodes = walks.nodes.data() + walk * (spec.length + 1);
    for (int64_t made = 0; made <= spec.length && nodes[made] >= 0; ++made) {
      if (answer->walk_types[made] == step.node_type.value) lists.nodes.push_back(nodes[made]);
    }
    lists.offsets.push_back(static_cast<int64_t>(lists.nodes.size()));
  }
  answer->walks = std::move(walks);
  return lists;
}

absl::StatusOr<StepLists> MakeVisited(const ShardRouter& router, const ResolvedStep& step,
                                      absl::Span<const int64_t> starts, const StepDraw& draw,
                                      const CallContext& context, std::vector<int64_t>* counts) {
  const VisitSpec spec = step.visits();
  const auto num_starts = static_cast<int64_t>(starts.size());
  const std::string problem = VisitProblem(router.schema(), spec, num_starts);
  if (!problem.empty()) return absl::InvalidArgumentError(problem);
  VICINITY_RETURN_IF_ERROR(CheckSize(step, num_starts * spec.top));
  const std::vector<int64_t> all = RepeatStarts({starts.begin(), starts.end()}, spec.num_walks);
  VICINITY_ASSIGN_OR_RETURN(const Walks walks, RouteWalks(router, spec.walk, all, draw.Own(step),
                                                          /*want_edge_ids=*/false, context));
  const TopVisited visited = CountVisits(router.schema(), spec, walks);
  StepLists lists = WithoutPadding(visited.nodes, num_starts, spec.top);
  for (size_t i = 0; i < visited.nodes.size(); ++i) {
    if (visited.nodes[i] >= 0) counts->push_back(visited.counts[i]);
  }
  return lists;
}

absl::StatusOr<StepLists> MakePpr(const ShardRouter& router, const ResolvedStep& step,
                                  absl::Span<const int64_t> seeds, const StepDraw& draw,
                                  const CallContext& context, StepAnswer* answer) {
  const auto num_seeds = static_cast<int64_t>(seeds.size());
  VICINITY_RETURN_IF_ERROR(CheckSize(step, num_seeds * step.ppr.top));
  RoutedSource source(router, draw.Own(step), context);
  RoutedWeights weights(router, context);
  ForwardPush push(router.schema(), router.book(), &source, &weights);
  VICINITY_ASSIGN_OR_RETURN(PprScores ranked, push.Rank(step.ppr, step.seed_type, seeds));
  for (size_t i = 0; i < ranked.nodes.size(); ++i) {
    if (ranked.nodes[i] >= 0) answer->scores.push_back(ranked.scores[i]);
  }
  answer->residuals = std::move(ranked.residuals);
  return WithoutPadding(ranked.nodes, num_seeds, step.ppr.top);
}

}  // namespace vicinity

// How a step's nodes are made of those that it goes on from.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/query/query_steps.h"
#include "client/query/step_lists.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "sampler/minibatch_sampler.h"

namespace vicinity {

// Of which draws a step makes its own: another for each step of a query.
struct StepDraw {
  MinibatchDraw draw;
  int32_t step = 0;  // its number

  uint64_t Stream(const ResolvedStep& of) const;
  // For what has draws of a minibatch of its own.
  MinibatchDraw Own(const ResolvedStep& of) const;
};

// ResourceExhausted naming the step if it has more than kMostStepNodes.
absl::Status CheckSize(const ResolvedStep& step, int64_t num_nodes);

// A kNeighbors of these targets, before lists are put in order. What is drawn is the same to the
// last node whether servers look at the condition or this does. Errors as ShardAccess.
absl::StatusOr<StepLists> MakeNeighbors(const ShardRouter& router, const ResolvedStep& step,
                                        absl::Span<const int64_t> targets, const StepDraw& draw,
                                        const CallContext& context);

// A kLayer: the neighbours of all targets are put together, each node with the sum of the weights
// of its edges (1 without), and `count` are drawn with replacement in proportion to that, or to its
// root: one list, or none drawn where no edge has weight. `weights`: that of each that was drawn.
// Chances are exact to 2^-53 of the sum. Cost: the lists of all targets come whole.
absl::StatusOr<StepLists> MakeLayer(const ShardRouter& router, const ResolvedStep& step,
                                    absl::Span<const int64_t> targets, const StepDraw& draw,
                                    const CallContext& context, std::vector<double>* weights);

// Lists in their order, as far as the step's limit lets.
absl::Status PutInOrder(const ShardRouter& router, const ResolvedStep& step,
                        absl::Span<const int64_t> targets, const CallContext& context,
                        StepLists* lists);

}  // namespace vicinity

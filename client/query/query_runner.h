// Runs a query of a graph, as often as one likes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/negatives/negative_sampler.h"
#include "client/query/node_pool.h"
#include "client/query/query.h"
#include "client/query/query_steps.h"
#include "client/query/step_makers.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "sampler/minibatch_sampler.h"

namespace vicinity {

// Steps run one after the other, each with at most one operation a shard; a condition on nodes and
// an order take another each, columns of nodes one for all steps together. Walks, PageRank and
// subgraphs take as many rounds as they need.
//
// Threads:  immutable; any number may run it.
// Lifetime: the router must outlive it.
class QueryRunner {
 public:
  // Errors as ResolveQuery, NodePool::Make and NegativeSampler::Make.
  static absl::StatusOr<std::unique_ptr<QueryRunner>> Make(const ShardRouter& router,
                                                           const Query& query,
                                                           const CallContext& context);

  const std::vector<ResolvedStep>& steps() const { return steps_; }

  // Errors name the step. InvalidArgument: an input that is missing, or that no step has, or an id
  // in it that is out of range; else as CheckSize, NegativeSampler::Draw and ShardAccess.
  absl::StatusOr<QueryAnswer> Run(const QueryInputs& inputs, const MinibatchDraw& draw,
                                  const CallContext& context) const;

  // Likewise, without the columns of nodes, whose rows are left to whoever asks.
  absl::StatusOr<QueryAnswer> RunSteps(const QueryInputs& inputs, const MinibatchDraw& draw,
                                       const CallContext& context) const;

  // What a run is expected to cost, of inputs of these sizes. Errors as Run's, but for ids.
  absl::StatusOr<std::vector<StepCost>> Foretell(const InputSizes& sizes,
                                                 const CallContext& context) const;

 private:
  // What a step has that does not change from run to run.
  struct Kept {
    std::optional<NodePool> pool;
    std::unique_ptr<NegativeSampler> negatives;
  };

  QueryRunner(const ShardRouter& router, std::vector<ResolvedStep> steps)
      : router_(router), steps_(std::move(steps)) {}

  absl::StatusOr<Kept> Keep(const ResolvedStep& step, const CallContext& context) const;
  // InvalidArgument unless `sizes` are of the inputs that steps have.
  absl::Status CheckInputs(const InputSizes& sizes) const;
  absl::Status RunStep(size_t number, const QueryInputs& inputs, const StepDraw& draw,
                       const CallContext& context, QueryAnswer* answer) const;
  absl::StatusOr<StepLists> MakeNodes(size_t number, const QueryInputs& inputs,
                                      const StepDraw& draw, const CallContext& context) const;
  // `targets`: those of the links, for conditional ones.
  absl::StatusOr<StepLists> MakeNegatives(size_t number, absl::Span<const int64_t> sources,
                                          absl::Span<const int64_t> targets, const StepDraw& draw,
                                          const CallContext& context) const;
  absl::Status MakeInducedStep(size_t number, const StepDraw& draw, const CallContext& context,
                               QueryAnswer* answer) const;
  absl::Status FetchColumns(const CallContext& context, QueryAnswer* answer) const;

  const ShardRouter& router_;
  const std::vector<ResolvedStep> steps_;
  std::vector<Kept> kept_;  // of each step
};

}  // namespace vicinity

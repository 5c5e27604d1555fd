// Who draws a loader's minibatches: seeds and a draw in, a sampled graph out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/negatives/negative_sampler.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// Threads: one at a time; each thread of the sampling stage has one of its own.
class BatchSampler {
 public:
  virtual ~BatchSampler() = default;

  // The minibatch around `seeds`. Cancelled soon after the context's Cancel(); other errors name
  // what was asked.
  virtual absl::StatusOr<SampledGraph> Sample(absl::Span<const TypedSeeds> seeds,
                                              const MinibatchDraw& draw,
                                              const CallContext& context) = 0;
};

// The edge types of which a batch of links excludes edges.
struct ExcludedTypes {
  std::optional<EdgeTypeId> self;     // from sources to targets
  std::optional<EdgeTypeId> reverse;  // from targets to sources
};

// Draws from the router's shards, near and far.
//
// Lifetime: the router must outlive it.
class RoutedBatchSampler final : public BatchSampler {
 public:
  // `excluded`: of batches whose first two lists of seeds are links' sources and targets.
  RoutedBatchSampler(const ShardRouter& router, SamplingSpec sampling, EdgeDetail detail,
                     ExcludedTypes excluded = {});
  absl::StatusOr<SampledGraph> Sample(absl::Span<const TypedSeeds> seeds, const MinibatchDraw& draw,
                                      const CallContext& context) override;

 private:
  const ShardRouter& router_;
  const SamplingSpec sampling_;
  const EdgeDetail detail_;
  const ExcludedTypes excluded_;
  MinibatchSampler sampler_;
};

// Brings negatives to batches of links: their lists of seeds follow those of the links.
//
// Lifetime: `negatives` must outlive it.
class NegativeBatchSampler final : public BatchSampler {
 public:
  NegativeBatchSampler(const NegativeSampler& negatives, std::unique_ptr<BatchSampler> sampler);
  absl::StatusOr<SampledGraph> Sample(absl::Span<const TypedSeeds> seeds, const MinibatchDraw& draw,
                                      const CallContext& context) override;

 private:
  // Of so many negatives: of a link's own its time; of pairs those of the links in turn.
  std::vector<int64_t> TimesOf(const std::vector<int64_t>& links, size_t count) const;

  const NegativeSampler& negatives_;
  const std::unique_ptr<BatchSampler> sampler_;
};

}  // namespace vicinity

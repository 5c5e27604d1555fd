#include "client/loading/batch_sampler.h"

#include <utility>

namespace vicinity {

RoutedBatchSampler::RoutedBatchSampler(const ShardRouter& router, SamplingSpec sampling,
                                       EdgeDetail detail)
    : router_(router),
      sampling_(std::move(sampling)),
      detail_(detail),
      sampler_(router.schema(), router.book()) {}

absl::StatusOr<SampledGraph> RoutedBatchSampler::Sample(absl::Span<const TypedSeeds> seeds,
                                                        const MinibatchDraw& draw,
                                                        const CallContext& context) {
  RoutedSource source(router_, draw, context);
  return sampler_.Sample(sampling_, seeds, detail_, &source);
}

}  // namespace vicinity

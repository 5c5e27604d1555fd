#include "client/loading/batch_sampler.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "proto/common/status.h"
#include "sampler/excluded_edges.h"

namespace vicinity {

namespace {

ExcludedEdges EdgesOf(absl::Span<const TypedSeeds> links, const ExcludedTypes& types) {
  ExcludedEdges edges;
  if (!types.self.has_value()) return edges;
  const std::vector<int64_t>& sources = links[0].ids;
  const std::vector<int64_t>& targets = links[1].ids;
  for (size_t i = 0; i < sources.size(); ++i) {
    edges.Add(*types.self, sources[i], targets[i]);
    if (types.reverse.has_value()) edges.Add(*types.reverse, targets[i], sources[i]);
  }
  return edges;
}

}  // namespace

RoutedBatchSampler::RoutedBatchSampler(const ShardRouter& router, SamplingSpec sampling,
                                       EdgeDetail detail, ExcludedTypes excluded)
    : router_(router),
      sampling_(std::move(sampling)),
      detail_(detail),
      excluded_(excluded),
      sampler_(router.schema(), router.book()) {}

absl::StatusOr<SampledGraph> RoutedBatchSampler::Sample(absl::Span<const TypedSeeds> seeds,
                                                        const MinibatchDraw& draw,
                                                        const CallContext& context) {
  RoutedSource source(router_, draw, context);
  return sampler_.Sample(sampling_, seeds, detail_, &source, EdgesOf(seeds, excluded_));
}

NegativeBatchSampler::NegativeBatchSampler(const NegativeSampler& negatives,
                                           std::unique_ptr<BatchSampler> sampler)
    : negatives_(negatives), sampler_(std::move(sampler)) {}

std::vector<int64_t> NegativeBatchSampler::TimesOf(const std::vector<int64_t>& links,
                                                   size_t count) const {
  std::vector<int64_t> times;
  if (links.empty()) return times;
  const size_t each = negatives_.of_each_link() ? count / links.size() : 1;
  for (size_t i = 0; i < count; ++i) times.push_back(links[i / each % links.size()]);
  return times;
}

absl::StatusOr<SampledGraph> NegativeBatchSampler::Sample(absl::Span<const TypedSeeds> seeds,
                                                          const MinibatchDraw& draw,
                                                          const CallContext& context) {
  VICINITY_ASSIGN_OR_RETURN(std::vector<TypedSeeds> drawn,
                            negatives_.Draw(seeds[0].ids, draw, context, seeds[1].ids));
  for (TypedSeeds& list : drawn) list.times = TimesOf(seeds.front().times, list.ids.size());
  std::vector<TypedSeeds> all(seeds.begin(), seeds.end());
  std::move(drawn.begin(), drawn.end(), std::back_inserter(all));
  return sampler_->Sample(all, draw, context);
}

}  // namespace vicinity

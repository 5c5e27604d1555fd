// Edges' weights from whichever shards own their targets, as rows of the weight column.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "proto/common/ids.h"
#include "sampler/one_hop.h"
#include "sampler/proximity/forward_push.h"

namespace vicinity {

// Lifetime: the router, and who may cancel, must outlive it. Threads: one at a time.
class RoutedWeights : public WeightSource {
 public:
  RoutedWeights(const ShardRouter& router, const CallContext& context)
      : router_(router), context_(context) {}

  // Errors as FetchEdgeRows. Cost: one operation a shard.
  absl::Status FindWeights(EdgeTypeId edge_type, absl::Span<const int64_t> targets,
                           const Neighbors& drawn, std::vector<double>* weights) override;

 private:
  const ShardRouter& router_;
  const CallContext context_;
};

}  // namespace vicinity

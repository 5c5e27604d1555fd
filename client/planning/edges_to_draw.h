// Which edges batches can ever draw, where a spec lets them draw among some alone: by a condition,
// by time.
#pragma once

#include "absl/status/statusor.h"
#include "cache/vip/edge_filter.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "sampler/rules/draw_spec.h"

namespace vicinity {

// For a VIP analysis: edges that meet SamplingSpec::where, and whose times are within these, which
// are those of the edges of any seed. Null where the spec has neither condition nor times: all
// edges. What it gives fails as ShardReader does. InvalidArgument for what is no condition.
//
// Cost: one pass over the columns that are named. Memory: a byte an edge of a shard.
absl::StatusOr<EdgeFilter> EdgesToDraw(const Dataset& dataset, const SamplingSpec& spec,
                                       const TimeBounds& within);

}  // namespace vicinity

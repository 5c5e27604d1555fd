// What the VIP formula can say of a query's answers: it knows minibatches alone.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "client/query/query_steps.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"

namespace vicinity {

// Minibatches of `batch_size` seeds that go about the ways that the answers go: hop h follows the
// edges that a step follows at distance h from the seeds, and only new nodes are expanded.
//
//   neighbors        a hop of its count
//   layer            a hop of its count over the batch size, at least 1
//   walk             a hop of one neighbour a step, along its metapath
//   visited          likewise, the first hop of as many as there are walks, or in the top
//   ppr              a hop of the top, then two of one
//   negatives, nodes drawn from all, induced edges: none
//
// Of a uniform walk without restarts from seeds far from each other that is exact. For the rest it
// tells who is likelier than whom; how likely, sampled answers do (cache/vip/calibration.h).
// Hops beyond kMaxHops are left out. Where no step follows edges there is one hop along all.
SamplingSpec MinibatchesLike(const Schema& schema, absl::Span<const ResolvedStep> steps,
                             int64_t batch_size);

}  // namespace vicinity

// Checks a minibatch of a certified graph: whatever a reader gets is right, or is found out here.
#pragma once

#include <cstdint>
#include <string>

#include "client/types/loader_values.h"
#include "tests/testing/graphs/certified_graph.h"

namespace vicinity::testing {

struct BatchVerdict {
  int64_t rows = 0;  // checked
  int64_t edges = 0;
  int64_t wrong_rows = 0;   // features, and labels of seeds
  int64_t wrong_edges = 0;  // edges that are not there, and targets with too few or too many
  std::string first_wrong;  // empty: nothing
};

// `spec` is what the batch was sampled by, without replacement; its columns may hold "features".
BatchVerdict CheckBatch(const CertifiedGraph& graph, const SamplingSpec& spec,
                        const MiniBatch& batch);

// A checksum of all that a trainer can see of the batch: equal batches, equal digests.
uint64_t Digest(const MiniBatch& batch);

}  // namespace vicinity::testing

// Two slow ways to inclusion probabilities: all outcomes of sampling counted, and the formula of
// cache/vip.h taken word for word.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/sampling_spec.h"
#include "proto/common/ids.h"
#include "tests/testing/small_graphs.h"

namespace vicinity::testing {

// result[type][position]
using Probabilities = std::vector<std::vector<double>>;

// The probability that a minibatch around min(batch_size, |seeds|) of `seeds`, every choice equally
// likely, meets each node: by enumeration. Nodes of all types together: at most 30.
Probabilities EnumeratedVip(const MemoryGraph& graph, NodeTypeId seed_type,
                            const std::vector<int64_t>& seeds, int64_t batch_size,
                            const SamplingSpec& spec);

// The model, edge by edge in doubles, each hop from the beginning.
Probabilities NaiveVip(const MemoryGraph& graph, NodeTypeId seed_type,
                       const std::vector<int64_t>& seeds, int64_t batch_size,
                       const SamplingSpec& spec);

}  // namespace vicinity::testing

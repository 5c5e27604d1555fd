// Two slow ways to inclusion probabilities: all outcomes of sampling counted, and the formula of
// cache/vip/vip.h taken word for word.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::testing {

// result[type][position]
using Probabilities = std::vector<std::vector<double>>;

// One way in which a minibatch may begin: a node for each seed, repeats allowed.
struct Start {
  std::vector<std::pair<NodeTypeId, int64_t>> seeds;
  double probability = 0;
};

// min(batch_size, |seeds|) of the seeds, every choice equally likely.
std::vector<Start> NodeStarts(NodeTypeId seed_type, const std::vector<int64_t>& seeds,
                              int64_t batch_size);

// Links between nodes of the first type and of the second.
struct SmallLinks {
  NodeTypeId source_type, target_type;
  std::vector<std::pair<int64_t, int64_t>> links;
  int64_t negatives_per_link = 0;
  NodeTypeId negative_type;
  std::vector<int64_t> negatives;  // drawn from, with replacement
};
// Both ends of min(batch_size, |links|) links, every choice equally likely, and their negatives.
std::vector<Start> LinkStarts(const SmallLinks& links, int64_t batch_size);

// c_0 of each node.
Probabilities FirstChances(const MemoryGraph& graph, const std::vector<Start>& starts);

// The probability that a minibatch meets each node, by enumeration. Nodes of all types together: at
// most 30.
Probabilities EnumeratedVip(const MemoryGraph& graph, const std::vector<Start>& starts,
                            const SamplingSpec& spec);

// The model, pair by pair in doubles, each hop from the beginning. Weighted chances are
// DrawChance's. together[{v, u}]: the chance that one choice makes both seeds, of nodes of one
// type.
Probabilities NaiveVip(const MemoryGraph& graph, const Probabilities& first,
                       const SamplingSpec& spec,
                       const std::map<std::pair<int64_t, int64_t>, double>& together = {});

}  // namespace vicinity::testing

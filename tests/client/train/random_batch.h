// Sampled graphs and minibatches of random shape, for tests that compare with an oracle.
#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include "client/types/loader_values.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "sampler/sampled_graph.h"

namespace vicinity::testing {

// Node types "item" (4 features) and "tag" (3), edge types item:cites:item, tag:on:item,
// item:has:tag; items have 5 classes.
Schema TwoTypeSchema();

// As a sampler would give it: 0 to 3 neighbours a target, some known, some new; `num_seeds` seeds
// of type 0, the last seed twice.
SampledGraph RandomSampledGraph(const Schema& schema, Expansion expansion, int num_hops,
                                int num_seeds, std::mt19937* random);

// RandomSampledGraph with float32 features for every type and labels, the first seed without one.
std::unique_ptr<MiniBatch> RandomMiniBatch(const Schema& schema, Expansion expansion, int num_hops,
                                           int num_seeds, std::mt19937* random);

}  // namespace vicinity::testing

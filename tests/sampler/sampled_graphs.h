// Minibatches as text, so that tests compare them whole and a failure shows where they differ.
#pragma once

#include <string>

#include "partition/dataset/dataset.h"
#include "sampler/sampled_graph.h"

namespace vicinity::testing {

// Everything in it, by global ids.
std::string Describe(const SampledGraph& graph);

// Everything in it, by the user's keys: equal for the same minibatch of any cut. The dataset must
// be whole.
std::string DescribeInKeys(const Dataset& dataset, const SampledGraph& graph);

}  // namespace vicinity::testing

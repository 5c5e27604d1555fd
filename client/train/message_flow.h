// A minibatch as a GNN reads it: for each layer, which input rows each output row averages.
//
// Standard C++ alone, so that what is subtle here is tested without libtorch.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// What one layer computes. Its input has one row for every node known when the hop that it undoes
// was finished, its output one for every node known before that hop; in both, the nodes of type 0
// come first, then those of type 1, and so on, each type in the order in which sampling met them.
struct LayerFlow {
  struct Range {
    int64_t begin = 0;
    int64_t count = 0;
  };
  int64_t num_inputs = 0;
  int64_t num_outputs = 0;
  std::vector<Range> self;       // input rows of the output's own nodes, one range a node type
  std::vector<int64_t> offsets;  // num_outputs + 1: the neighbours of output i are
  std::vector<int32_t> sources;  // sources[offsets[i]] .. sources[offsets[i + 1] - 1]: input rows
};

// The layers of `graph` in the order of use: the first reads all nodes, the last writes the seeds.
//
// Layer l of L undoes hop L-1-l. With Expansion::kAllNodes that hop has drawn neighbours for every
// node known before it, anew in each hop. With kNewNodes a node's neighbours are drawn once, in the
// hop after it was met, so the layer takes the hops before as well: the union of hops 0 .. L-1-l.
//
// Neighbours along all edge types that end at a node are one list, edge type by edge type.
// `graph` must come from a sampler of `schema`: its positions are not checked again. It must not be
// induced, since the edges of such a sample are of no hop.
std::vector<LayerFlow> MakeLayerFlows(const Schema& schema, const SampledGraph& graph,
                                      Expansion expansion);

}  // namespace vicinity

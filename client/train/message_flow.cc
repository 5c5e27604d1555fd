#include "client/train/message_flow.h"

#include <cstddef>

namespace vicinity {
namespace {

// Where each type's rows begin in a layer's input or output, and behind the last how many there
// are.
std::vector<int64_t> TypeBegins(const SampledGraph& graph, size_t hops_done) {
  std::vector<int64_t> begins = {0};
  for (const SampledNodes& nodes : graph.nodes) {
    begins.push_back(begins.back() + nodes.hop_ends[hops_done]);
  }
  return begins;
}

// The blocks that a layer reads; see MakeLayerFlows.
std::vector<const Block*> BlocksOf(const SampledGraph& graph, size_t hop, Expansion expansion) {
  std::vector<const Block*> blocks;
  for (size_t h = expansion == Expansion::kAllNodes ? hop : 0; h <= hop; ++h) {
    for (const Block& block : graph.hops[h]) blocks.push_back(&block);
  }
  return blocks;
}

void FillNeighbours(const Schema& schema, const std::vector<const Block*>& blocks,
                    const std::vector<int64_t>& input_begins,
                    const std::vector<int64_t>& output_begins, LayerFlow* flow) {
  const auto first_output = [&](const Block& block) {
    return output_begins[schema.edge_types[block.edge_type].target_type] + block.first_target;
  };
  flow->offsets.assign(flow->num_outputs + 1, 0);
  for (const Block* block : blocks) {
    int64_t* counts = flow->offsets.data() + first_output(*block) + 1;
    for (int64_t i = 0; i < block->num_targets(); ++i) {
      counts[i] += block->offsets[i + 1] - block->offsets[i];
    }
  }
  for (int64_t i = 0; i < flow->num_outputs; ++i) flow->offsets[i + 1] += flow->offsets[i];

  flow->sources.resize(flow->offsets.back());
  std::vector<int64_t> next(flow->offsets.begin(), flow->offsets.end() - 1);
  for (const Block* block : blocks) {
    const int32_t shift =
        static_cast<int32_t>(input_begins[schema.edge_types[block->edge_type].source_type]);
    int64_t* at = next.data() + first_output(*block);
    for (int64_t i = 0; i < block->num_targets(); ++i) {
      for (int64_t e = block->offsets[i]; e < block->offsets[i + 1]; ++e) {
        flow->sources[at[i]++] = block->sources[e] + shift;
      }
    }
  }
}

}  // namespace

std::vector<LayerFlow> MakeLayerFlows(const Schema& schema, const SampledGraph& graph,
                                      Expansion expansion) {
  std::vector<LayerFlow> flows;
  for (size_t hop = graph.hops.size(); hop-- > 0;) {
    const std::vector<int64_t> inputs = TypeBegins(graph, hop + 1);
    const std::vector<int64_t> outputs = TypeBegins(graph, hop);
    LayerFlow& flow = flows.emplace_back();
    flow.num_inputs = inputs.back();
    flow.num_outputs = outputs.back();
    for (size_t type = 0; type < graph.nodes.size(); ++type) {
      flow.self.push_back({inputs[type], outputs[type + 1] - outputs[type]});
    }
    FillNeighbours(schema, BlocksOf(graph, hop, expansion), inputs, outputs, &flow);
  }
  return flows;
}

}  // namespace vicinity

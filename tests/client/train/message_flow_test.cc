#include "client/train/message_flow.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <utility>
#include <vector>

#include "tests/client/train/random_batch.h"

namespace vicinity {
namespace {

using testing::RandomSampledGraph;
using testing::TwoTypeSchema;

// A node by its type and position.
using Node = std::pair<int, int64_t>;

// What the first `hops_done` hops know, as one list: type by type.
std::vector<Node> Known(const SampledGraph& graph, size_t hops_done) {
  std::vector<Node> nodes;
  for (size_t type = 0; type < graph.nodes.size(); ++type) {
    for (int64_t i = 0; i < graph.nodes[type].hop_ends[hops_done]; ++i) nodes.emplace_back(type, i);
  }
  return nodes;
}

// The neighbours of `node` in one hop.
void AddNeighbours(const Schema& schema, const std::vector<Block>& blocks, const Node& node,
                   std::vector<Node>* neighbours) {
  for (const Block& block : blocks) {
    const EdgeTypeSpec& edge_type = schema.edge_types[block.edge_type];
    const int64_t target = node.second - block.first_target;
    if (edge_type.target_type != node.first || target < 0 || target >= block.num_targets())
      continue;
    for (int64_t e = block.offsets[target]; e < block.offsets[target + 1]; ++e) {
      neighbours->emplace_back(edge_type.source_type, block.sources[e]);
    }
  }
}

}  // namespace

TEST_CASE("each layer averages the neighbours that its hops drew", "[message_flow]") {
  const Expansion expansion = GENERATE(Expansion::kAllNodes, Expansion::kNewNodes);
  const uint32_t seed = GENERATE(range(1u, 21u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Schema schema = TwoTypeSchema();
  const size_t num_hops = 1 + seed % 3;
  const SampledGraph graph =
      RandomSampledGraph(schema, expansion, static_cast<int>(num_hops), 5, &random);

  const std::vector<LayerFlow> flows = MakeLayerFlows(schema, graph, expansion);

  REQUIRE(flows.size() == num_hops);
  for (size_t layer = 0; layer < num_hops; ++layer) {
    const size_t hop = num_hops - 1 - layer;
    const LayerFlow& flow = flows[layer];
    const std::vector<Node> inputs = Known(graph, hop + 1);
    const std::vector<Node> outputs = Known(graph, hop);
    REQUIRE(flow.num_inputs == static_cast<int64_t>(inputs.size()));
    REQUIRE(flow.num_outputs == static_cast<int64_t>(outputs.size()));
    REQUIRE(flow.offsets.size() == outputs.size() + 1);

    std::vector<Node> self;
    for (const LayerFlow::Range& range : flow.self) {
      for (int64_t i = 0; i < range.count; ++i) self.push_back(inputs[range.begin + i]);
    }
    CHECK(self == outputs);

    for (size_t i = 0; i < outputs.size(); ++i) {
      std::vector<Node> expected;
      for (size_t h = expansion == Expansion::kAllNodes ? hop : 0; h <= hop; ++h) {
        AddNeighbours(schema, graph.hops[h], outputs[i], &expected);
      }
      std::vector<Node> found;
      for (int64_t e = flow.offsets[i]; e < flow.offsets[i + 1]; ++e) {
        found.push_back(inputs[flow.sources[e]]);
      }
      CHECK(found == expected);
    }
  }
}

TEST_CASE("a hop without any block leaves every list empty", "[message_flow]") {
  const Schema schema = TwoTypeSchema();
  SampledGraph graph;
  graph.seeds = {{0, {0, 1}}};
  graph.nodes = {{{7, 8}, {2, 2}, {}}, {{}, {0, 0}, {}}};
  graph.hops.resize(1);
  const std::vector<LayerFlow> flows = MakeLayerFlows(schema, graph, Expansion::kAllNodes);
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].offsets == std::vector<int64_t>{0, 0, 0});
  CHECK(flows[0].sources.empty());
}

}  // namespace vicinity

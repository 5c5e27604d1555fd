#include "tests/client/train/random_batch.h"

#include <cstring>
#include <vector>

namespace vicinity::testing {
namespace {

int Below(int bound, std::mt19937* random) { return static_cast<int>((*random)() % bound); }

// One edge type in one hop; new sources get the next free positions.
Block RandomBlock(const Schema& schema, int edge_type, int64_t first, int64_t end,
                  SampledGraph* graph, std::mt19937* random) {
  Block block;
  block.edge_type = edge_type;
  block.first_target = first;
  block.offsets = {0};
  std::vector<int64_t>& ids = graph->nodes[schema.edge_types[edge_type].source_type].ids;
  for (int64_t target = first; target < end; ++target) {
    for (int k = Below(4, random); k > 0; --k) {
      const int known = static_cast<int>(ids.size());
      const int source = Below(known + 3, random);
      if (source >= known) ids.push_back(1000 + known);
      block.sources.push_back(source >= known ? known : source);
    }
    block.offsets.push_back(static_cast<int64_t>(block.sources.size()));
  }
  return block;
}

}  // namespace

Schema TwoTypeSchema() {
  Schema schema;
  NodeTypeSpec item;
  item.name = "item";
  item.columns = {
      {"feat", DType::kFloat32, {4}}, {"label", DType::kInt16, {}}, {"split", DType::kUint8, {}}};
  item.label_column = "label";
  item.num_classes = 5;
  item.split_column = "split";
  NodeTypeSpec tag;
  tag.name = "tag";
  tag.columns = {{"feat", DType::kFloat32, {3}}};
  schema.node_types = {item, tag};
  schema.edge_types = {{0, "cites", 0, {}}, {1, "on", 0, {}}, {0, "has", 1, {}}};
  return schema;
}

SampledGraph RandomSampledGraph(const Schema& schema, Expansion expansion, int num_hops,
                                int num_seeds, std::mt19937* random) {
  const size_t num_types = schema.node_types.size();
  SampledGraph graph;
  graph.nodes.resize(num_types);
  SampledSeeds& seeds = graph.seeds.emplace_back();
  for (int seed = 0; seed < num_seeds; ++seed) {
    graph.nodes[0].ids.push_back(seed);
    seeds.positions.push_back(seed);
  }
  seeds.positions.push_back(num_seeds - 1);
  std::vector<int64_t> firsts(num_types, 0);
  for (SampledNodes& nodes : graph.nodes) {
    nodes.hop_ends = {static_cast<int64_t>(nodes.ids.size())};
  }
  for (int hop = 0; hop < num_hops; ++hop) {
    std::vector<Block>& blocks = graph.hops.emplace_back();
    for (size_t e = 0; e < schema.edge_types.size(); ++e) {
      const int target_type = schema.edge_types[e].target_type;
      const int64_t end = graph.nodes[target_type].hop_ends.back();
      if (firsts[target_type] == end) continue;
      blocks.push_back(
          RandomBlock(schema, static_cast<int>(e), firsts[target_type], end, &graph, random));
    }
    for (size_t type = 0; type < num_types; ++type) {
      SampledNodes& nodes = graph.nodes[type];
      if (expansion == Expansion::kNewNodes) firsts[type] = nodes.hop_ends.back();
      nodes.hop_ends.push_back(static_cast<int64_t>(nodes.ids.size()));
    }
  }
  return graph;
}

std::unique_ptr<MiniBatch> RandomMiniBatch(const Schema& schema, Expansion expansion, int num_hops,
                                           int num_seeds, std::mt19937* random) {
  auto batch = std::make_unique<MiniBatch>();
  batch->graph = RandomSampledGraph(schema, expansion, num_hops, num_seeds, random);
  std::normal_distribution<float> normal;
  for (size_t type = 0; type < schema.node_types.size(); ++type) {
    BatchColumn column;
    column.node_type = static_cast<int32_t>(type);
    column.spec = schema.node_types[type].columns.front();
    column.num_rows = static_cast<int64_t>(batch->graph.nodes[type].ids.size());
    std::vector<float> values(column.num_rows * column.spec.num_values());
    for (float& value : values) value = normal(*random);
    column.bytes.resize(values.size() * sizeof(float));
    if (!values.empty()) std::memcpy(column.bytes.data(), values.data(), column.bytes.size());
    batch->columns.push_back(std::move(column));
  }
  for (int64_t seed = 0; seed < batch->graph.num_seeds(); ++seed) {
    batch->labels.push_back(seed == 0 ? -1 : Below(schema.node_types[0].num_classes, random));
  }
  return batch;
}

}  // namespace vicinity::testing

#include "cache/vip/vip_state.h"

#include <utility>

#include "cache/vip/draw_chance.h"
#include "cache/vip/edge_weights.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// True if nodes of `type` get messages from targets that they cannot be gathered from.
bool HasScattered(const VipGraph& graph, NodeTypeId type) {
  for (int32_t edge = 0; edge < graph.num_edge_types(); ++edge) {
    if (graph.IsFollowed({edge}, graph.spec().num_hops()) && graph.reverse({edge}) < 0 &&
        graph.SourceType({edge}) == type) {
      return true;
    }
  }
  return false;
}

// One shard's nodes and their lists along one edge type.
void SetChances(const VipGraph& graph, EdgeTypeId type, const VipGraph::Chunk& chunk,
                const VipRecords& records) {
  const BaseLists edges(*chunk.shard, type);
  const EdgeWeights weights = graph.WeightsOf(type, *chunk.shard);
  const std::vector<DrawRule> rules = graph.RulesOf(type);
  std::vector<double> of_row;
  for (int64_t row = chunk.begin; row < chunk.end; ++row) {
    const int64_t begin = edges.begin(row), degree = edges.degree(row);
    of_row.clear();
    for (int64_t i = begin; weights.is_given() && i < begin + degree; ++i) {
      of_row.push_back(weights[i]);
    }
    for (int hop = 1; hop <= records.num_hops; ++hop) {
      const DrawRule& rule = rules[hop - 1];
      const double rate = weights.is_given() ? DrawRate(rule, of_row) : DrawRate(rule, degree);
      records.chance(chunk.base + row, graph.slot(type), hop) =
          static_cast<float>(graph.is_bundled(type) ? rate : DrawChance(rule, rate, 1));
    }
  }
}

void SetSeed(VipState* state, int64_t node, int lane, double chance) {
  state->records.met(node, 0)[lane] = static_cast<float>(chance);
  state->records.seed_mark(node) = 1;
  state->is_seed[node / 64] |= uint64_t{1} << node % 64;
}

}  // namespace

int LanesFor(int64_t num_homes) { return num_homes > 4 ? kMaxVipLanes : 4; }

absl::StatusOr<VipState> MakeVipState(const VipGraph& graph, NodeTypeId type, int lanes) {
  const int64_t num_nodes = graph.dataset().book().num_nodes(type);
  const int num_hops = graph.spec().num_hops();
  VipState state;
  VipRecords& records = state.records;
  records.lanes = lanes;
  records.num_hops = num_hops;
  records.head = VipRecords::HeadFor(graph.num_slots(type), num_hops, lanes);
  VICINITY_ASSIGN_OR_RETURN(state.memory, HugeArray::Create(num_nodes * records.stride()));
  records.data = state.memory.data();
  state.is_seed.resize(num_nodes / 64 + 1);
  if (HasScattered(graph, type)) state.met.resize(num_nodes * lanes);
  for (int32_t edge = 0; edge < graph.num_edge_types(); ++edge) {
    if (!(graph.TargetType({edge}) == type) || !graph.IsFollowed({edge}, num_hops)) continue;
    graph.ForEachChunk(type, [&](const VipGraph::Chunk& chunk, int) {
      SetChances(graph, {edge}, chunk, records);
    });
  }
  return state;
}

void SetSeeds(const SeedChances& seeds, int64_t num_nodes, int lane, VipState* state) {
  for (int64_t node = 0; seeds.others > 0 && node < num_nodes; ++node) {
    SetSeed(state, node, lane, seeds.others);
  }
  for (size_t i = 0; i < seeds.nodes.size(); ++i) {
    SetSeed(state, seeds.nodes[i], lane, seeds.chances[i]);
  }
}

}  // namespace vicinity

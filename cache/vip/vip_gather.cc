#include "cache/vip/vip_gather.h"

#include <algorithm>
#include <atomic>

#include "partition/dataset/base_views.h"
#include "partition/schema/sampling_spec.h"

namespace vicinity {
namespace {

// What is known of c_hop before anything is gathered.
void SetMet(const VipState& state, int64_t node, double* met) {
  const int lanes = state.records.lanes;
  const float* const seed = state.records.met(node, 0);
  std::copy(seed, seed + lanes, met);
  if (state.met.empty()) return;
  const double* const scattered = &state.met[node * lanes];
  for (int lane = 0; lane < lanes; ++lane) met[lane] += scattered[lane] * (1 - met[lane]);
}

}  // namespace

VipGather::VipGather(const VipGraph& graph, const LinkHelp& help,
                     const std::vector<VipState>* states)
    : graph_(graph), help_(help), states_(*states) {}

bool VipGather::only_new() const { return graph_.spec().expansion == Expansion::kNewNodes; }

// By `type` of u and any type of v: what gathers edge by edge.
std::vector<VipGather::GatheredList> VipGather::SingleLists(NodeTypeId type, int hop) const {
  std::vector<GatheredList> lists;
  for (int32_t target = 0; target < num_node_types(); ++target) {
    for (const EdgeTypeId edge : graph_.EdgeTypesBetween({target}, type, hop, true)) {
      if (graph_.is_bundled(edge)) continue;
      const EdgeTypeId list{graph_.reverse(edge)};
      VipRelation relation;
      relation.v = states_[target].records;
      relation.v_slot = graph_.slot(edge);
      relation.u = states_[type.value].records;
      relation.u_slot = graph_.slot(list);
      relation.v_is_seed = states_[target].is_seed.data();
      relation.only_new = only_new();
      relation.one_type = target == type.value;
      lists.push_back({relation, list});
    }
  }
  return lists;
}

// What gathers bundle by bundle, for each type of v.
std::vector<BundledMessages> VipGather::BundledLists(NodeTypeId type, int hop) const {
  std::vector<BundledMessages> all;
  for (int32_t target = 0; target < num_node_types(); ++target) {
    const std::vector<EdgeTypeId> types = graph_.EdgeTypesBetween({target}, type, hop, true);
    if (types.empty() || !graph_.is_bundled(types[0])) continue;
    all.emplace_back(graph_, states_[target].records, types, help_);
    all.back().SetSources(states_[type.value].records);
  }
  return all;
}

int64_t VipGather::CountEdges(const std::vector<GatheredList>& lists,
                              const VipGraph::Chunk& chunk) {
  int64_t num_edges = 0;
  for (const GatheredList& gathers : lists) {
    const BaseLists edges(*chunk.shard, gathers.list);
    num_edges += edges.begin(chunk.end) - edges.begin(chunk.begin);
  }
  return num_edges;
}

int64_t VipGather::Run(NodeTypeId type, int hop, const VipRows& out,
                       const Progress& progress) const {
  const VipState& state = states_[type.value];
  const GatherMessages gather = FindGather(state.records.lanes);
  const std::vector<GatheredList> lists = SingleLists(type, hop);
  std::vector<std::vector<BundledMessages>> bundled(graph_.num_threads(), BundledLists(type, hop));
  std::atomic<int64_t> gathered = 0;
  graph_.ForEachChunk(type, [&](const VipGraph::Chunk& chunk, int thread) {
    for (int64_t row = chunk.begin; row < chunk.end; ++row) {
      const int64_t u = chunk.base + row;
      double met[kMaxVipLanes];
      SetMet(state, u, met);
      for (const GatheredList& gathers : lists) {
        const BaseLists edges(*chunk.shard, gathers.list);
        edges.VisitSources([&](const auto& sources) {
          gather(gathers.relation, sources, edges.begin(row), edges.begin(row + 1), u, hop, met);
        });
      }
      for (BundledMessages& messages : bundled[thread]) {
        messages.Gather(*chunk.shard, row, u, hop, only_new(), met);
      }
      std::copy(met, met + out.width, out.of(u));
    }
    gathered += CountEdges(lists, chunk);
    if (thread == 0) progress(gathered);
  });
  return gathered;
}

}  // namespace vicinity

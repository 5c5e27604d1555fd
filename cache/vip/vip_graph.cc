#include "cache/vip/vip_graph.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cache/vip/draw_chance.h"
#include "cache/vip/edge_bundles.h"
#include "cache/vip/edge_filter.h"
#include "cache/vip/edge_weights.h"
#include "cache/vip/reverse_edges.h"
#include "cache/vip/threads.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kChunkCost = 1 << 16;  // edges, about: a millisecond
constexpr int64_t kNodeCost = 8;         // of a node without edges, in edges
// Parallel edges make no difference that anybody could measure where fewer than one in so many is.
constexpr int64_t kTellingParallel = 1000;

uint64_t HighestSource(const BaseLists& edges, int part, int num_parts) {
  const int64_t begin = edges.num_edges() * part / num_parts;
  const int64_t end = edges.num_edges() * (part + 1) / num_parts;
  if (begin == end) return 0;
  return edges.VisitSources([&](const auto& sources) -> uint64_t {
    return *std::max_element(sources.begin() + begin, sources.begin() + end);
  });
}

// In the lists of rows begin .. end - 1: edges from the node that the edge before is from, too.
int64_t CountRepeats(const BaseLists& edges, int64_t begin, int64_t end) {
  return edges.VisitSources([&](const auto& sources) {
    int64_t repeats = 0;
    for (int64_t row = begin; row < end; ++row) {
      const auto* const list = sources.data() + edges.begin(row);
      const int64_t degree = edges.degree(row);
      for (int64_t i = 1; i < degree; ++i) repeats += list[i] == list[i - 1];
    }
    return repeats;
  });
}

}  // namespace

VipGraph::VipGraph(const Dataset& dataset, const SamplingSpec& spec, int num_threads)
    : dataset_(dataset),
      spec_(spec),
      num_threads_(num_threads),
      followed_(dataset.schema().edge_types.size()),
      weight_columns_(followed_.size(), -1),
      filters_(followed_.size()),
      slots_(followed_.size()),
      bundled_(followed_.size()),
      num_slots_(dataset.schema().node_types.size()) {
  for (int32_t type = 0; type < num_edge_types(); ++type) {
    followed_[type] = IsFollowed({type}, spec.num_hops());
    if (!followed_[type]) continue;
    slots_[type] = num_slots_[TargetType({type}).value]++;
    if (!IsWeighted(dataset.schema(), spec, type)) continue;
    const EdgeTypeSpec& edges = dataset.schema().edge_types[type];
    weight_columns_[type] = edges.FindColumn(edges.weight_column);
  }
}

absl::StatusOr<VipGraph> VipGraph::Create(const Dataset& dataset, const SamplingSpec& spec,
                                          int num_threads, EdgeTypeId bundled,
                                          const EdgeFilter& filter) {
  VipGraph graph(dataset, spec, num_threads);
  for (int32_t type = 0; type < graph.num_edge_types(); ++type) {
    if (!graph.followed_[type]) continue;
    for (const auto& shard : dataset.shards()) {
      VICINITY_RETURN_IF_ERROR(graph.CheckEdges({type}, *shard));
    }
  }
  if (filter) VICINITY_RETURN_IF_ERROR(graph.Filter(filter));
  const auto weights_of = [&](EdgeTypeId type, const Shard& shard) {
    return graph.WeightsOf(type, shard);
  };
  graph.reverses_ = FindReverses(dataset, graph.followed_, weights_of, num_threads);
  for (int32_t type = 0; type < dataset.book().num_node_types(); ++type) {
    graph.chunks_.push_back(graph.CutNodes({type}));
  }
  graph.FindBundled(bundled);
  return graph;
}

NodeTypeId VipGraph::TargetType(EdgeTypeId type) const {
  return {dataset_.schema().edge_types[type.value].target_type};
}

NodeTypeId VipGraph::SourceType(EdgeTypeId type) const {
  return {dataset_.schema().edge_types[type.value].source_type};
}

bool VipGraph::IsFollowed(EdgeTypeId type, int num_hops) const {
  for (int hop = 0; hop < num_hops; ++hop) {
    if (spec_.fanouts[hop][type.value] != 0) return true;
  }
  return false;
}

std::vector<DrawRule> VipGraph::RulesOf(EdgeTypeId type) const {
  std::vector<DrawRule> rules;
  for (const std::vector<int64_t>& fanouts : spec_.fanouts) {
    rules.push_back({fanouts[type.value], spec_.replace, is_weighted(type)});
  }
  return rules;
}

EdgeWeights VipGraph::WeightsOf(EdgeTypeId type, const Shard& shard) const {
  const int column = weight_columns_[type.value];
  EdgeWeights weights;
  if (column >= 0) {
    weights = EdgeWeights(BaseLists(shard, type).column(column),
                          dataset_.schema().edge_types[type.value].columns[column].dtype);
  }
  if (filters_[type.value].empty()) return weights;
  return weights.Among(filters_[type.value][shard.id().value].data());
}

// Types of which all edges are there need no bytes, and no weights.
absl::Status VipGraph::Filter(const EdgeFilter& filter) {
  for (int32_t type = 0; type < num_edge_types(); ++type) {
    if (!followed_[type]) continue;
    std::vector<std::vector<uint8_t>> there(dataset_.book().num_shards());
    bool all = true;
    for (const auto& shard : dataset_.shards()) {
      std::vector<uint8_t>& edges = there[shard->id().value];
      VICINITY_ASSIGN_OR_RETURN(edges, filter({type}, *shard));
      all = all && std::count(edges.begin(), edges.end(), 0) == 0;
    }
    if (!all) filters_[type] = std::move(there);
  }
  return absl::OkStatus();
}

absl::Status VipGraph::CheckEdges(EdgeTypeId type, const Shard& shard) const {
  const auto lost = [&](const std::string& what) {
    return absl::DataLossError(absl::StrCat(
        "shard ", shard.id().value, ", ", dataset_.schema().EdgeTypeName(type.value), ": ", what));
  };
  const BaseLists edges(shard, type);
  const absl::Span<const uint64_t> offsets = edges.offsets();
  const size_t num_targets = dataset_.book().num_nodes(TargetType(type), shard.id());
  if (num_targets == 0) return absl::OkStatus();
  if (offsets.size() != num_targets + 1) {
    return lost(absl::StrCat(offsets.size(), " offsets for ", num_targets, " nodes"));
  }
  if (!std::is_sorted(offsets.begin(), offsets.end()) ||
      offsets.back() > static_cast<uint64_t>(edges.num_edges())) {
    return lost("offsets that fall or lie behind the edges");
  }
  const int64_t num_sources = dataset_.book().num_nodes(SourceType(type));
  std::vector<uint64_t> highest(num_threads_);
  RunThreads(num_threads_,
             [&](int thread) { highest[thread] = HighestSource(edges, thread, num_threads_); });
  const uint64_t most = *std::max_element(highest.begin(), highest.end());
  if (edges.num_edges() > 0 && most >= static_cast<uint64_t>(num_sources)) {
    return lost(absl::StrCat("an edge comes from node ", most, " of ", num_sources));
  }
  return absl::OkStatus();
}

std::vector<VipGraph::Chunk> VipGraph::CutNodes(NodeTypeId type) const {
  std::vector<Chunk> chunks;
  for (const auto& shard : dataset_.shards()) {
    const int64_t num_rows = dataset_.book().num_nodes(type, shard->id());
    Chunk chunk{shard.get(), dataset_.book().First(type, shard->id()).value, 0, 0};
    int64_t cost = 0;
    for (int64_t row = 0; row < num_rows; ++row) {
      cost += kNodeCost;
      for (int32_t edge = 0; edge < num_edge_types(); ++edge) {
        if (followed_[edge] && TargetType({edge}) == type)
          cost += BaseLists(*shard, {edge}).degree(row);
      }
      if (cost < kChunkCost && row + 1 < num_rows) continue;
      chunk.end = row + 1;
      chunks.push_back(chunk);
      chunk.begin = row + 1;
      cost = 0;
    }
  }
  return chunks;
}

std::vector<EdgeTypeId> VipGraph::EdgeTypesBetween(NodeTypeId target, NodeTypeId source, int hop,
                                                   bool with_reverse) const {
  std::vector<EdgeTypeId> types;
  for (const EdgeTypeId type : ListsOf(target, source)) {
    if (IsFollowed(type, hop) && (reverse(type) >= 0) == with_reverse) types.push_back(type);
  }
  return types;
}

// The edge types by whose lists nodes of one type tell neighbours of the other.
std::vector<EdgeTypeId> VipGraph::ListsOf(NodeTypeId target, NodeTypeId source) const {
  std::vector<EdgeTypeId> lists;
  for (int32_t type = 0; type < num_edge_types(); ++type) {
    if (followed_[type] && TargetType({type}) == target && SourceType({type}) == source) {
      lists.push_back({type});
    }
  }
  return lists;
}

int64_t VipGraph::CountParallel(NodeTypeId target, NodeTypeId source) const {
  const std::vector<EdgeTypeId> lists = ListsOf(target, source);
  if (lists.empty()) return 0;
  std::atomic<int64_t> parallel = 0;
  std::vector<EdgeBundles> bundles(num_threads_);
  ForEachChunk(target, [&](const Chunk& chunk, int thread) {
    int64_t found = 0;
    for (const EdgeTypeId list : lists) {
      found += CountRepeats(BaseLists(*chunk.shard, list), chunk.begin, chunk.end);
    }
    for (int64_t row = chunk.begin; row < chunk.end && lists.size() > 1; ++row) {
      EdgeBundles& of_row = bundles[thread];
      of_row.Clear();
      for (const EdgeTypeId list : lists) of_row.Add(BaseLists(*chunk.shard, list), {}, row);
      of_row.Join();
      for (size_t i = 1; i < of_row.parts().size(); ++i) {
        found += of_row.parts()[i].neighbor == of_row.parts()[i - 1].neighbor;
      }
    }
    parallel += found;
  });
  return parallel;
}

void VipGraph::FindBundled(EdgeTypeId bundled) {
  const int32_t num_types = dataset_.book().num_node_types();
  for (int32_t a = 0; a < num_types; ++a) {
    for (int32_t b = a; b < num_types; ++b) {
      std::vector<EdgeTypeId> types = ListsOf({a}, {b});
      int64_t parallel = CountParallel({a}, {b});
      if (a != b) {
        parallel += CountParallel({b}, {a});
        const std::vector<EdgeTypeId> others = ListsOf({b}, {a});
        types.insert(types.end(), others.begin(), others.end());
      }
      int64_t num_edges = 0;
      bool forced = false;
      for (const EdgeTypeId type : types) {
        forced = forced || is_weighted(type) || type == bundled;
        for (const auto& shard : dataset_.shards())
          num_edges += BaseLists(*shard, type).num_edges();
      }
      for (const EdgeTypeId type : types) {
        bundled_[type.value] = forced || parallel > num_edges / kTellingParallel;
      }
    }
  }
}

void VipGraph::ForEachChunk(NodeTypeId type,
                            const std::function<void(const Chunk&, int thread)>& work) const {
  const std::vector<Chunk>& chunks = chunks_[type.value];
  std::atomic<size_t> next = 0;
  RunThreads(num_threads_, [&](int thread) {
    for (size_t i = next++; i < chunks.size(); i = next++) work(chunks[i], thread);
  });
}

int64_t VipGraph::CountEdges() const {
  int64_t edges = 0;
  for (int hop = 1; hop <= spec_.num_hops(); ++hop) {
    for (int32_t type = 0; type < num_edge_types(); ++type) {
      if (!IsFollowed({type}, hop)) continue;
      for (const auto& shard : dataset_.shards()) edges += BaseLists(*shard, {type}).num_edges();
    }
  }
  return edges;
}

}  // namespace vicinity

// What a VIP analysis knows of a dataset before it begins: edges checked, reverses found, nodes cut
// into even pieces of work.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/vip/draw_chance.h"
#include "cache/vip/edge_filter.h"
#include "cache/vip/edge_weights.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"

namespace vicinity {

// Threads:  immutable; any number may read.
// Lifetime: dataset and spec must outlive it.
class VipGraph {
 public:
  // A range of one shard's nodes of a type.
  struct Chunk {
    const Shard* shard = nullptr;
    int64_t base = 0;  // the shard's first node
    int64_t begin = 0, end = 0;
  };

  // `dataset` must be whole and the spec fit. `bundled`: an edge type to be looked at in bundles
  // whatever its edges are; -1: none. `filter`: null: all edges are there. DataLoss: an edge that
  // does not lie in its file or its source type; else what the filter said. Cost: reads the edges
  // that are followed once or twice. Memory: a byte an edge of types of which some are not there.
  static absl::StatusOr<VipGraph> Create(const Dataset& dataset, const SamplingSpec& spec,
                                         int num_threads, EdgeTypeId bundled = {-1},
                                         const EdgeFilter& filter = nullptr);

  const Dataset& dataset() const { return dataset_; }
  const SamplingSpec& spec() const { return spec_; }
  int num_threads() const { return num_threads_; }
  int32_t num_edge_types() const { return static_cast<int32_t>(slots_.size()); }
  NodeTypeId TargetType(EdgeTypeId type) const;
  NodeTypeId SourceType(EdgeTypeId type) const;

  // By one of the first `num_hops` hops.
  bool IsFollowed(EdgeTypeId type, int num_hops) const;
  // Of hops 1, 2, ...
  std::vector<DrawRule> RulesOf(EdgeTypeId type) const;
  // Its edges are not drawn alike: by weights, or since some are not there.
  bool is_weighted(EdgeTypeId type) const {
    return weight_columns_[type.value] >= 0 || !filters_[type.value].empty();
  }
  EdgeWeights WeightsOf(EdgeTypeId type, const Shard& shard) const;

  // The edge type that holds its edges reversed, or -1.
  int32_t reverse(EdgeTypeId type) const { return reverses_[type.value]; }
  // Its place among those that are followed and end in the same node type, and how many those are.
  int slot(EdgeTypeId type) const { return slots_[type.value]; }
  int num_slots(NodeTypeId type) const { return num_slots_[type.value]; }

  // Those by which nodes of one type draw the other's in hops up to this one, with a reverse or all
  // those without.
  std::vector<EdgeTypeId> EdgeTypesBetween(NodeTypeId target, NodeTypeId source, int hop,
                                           bool with_reverse) const;

  // Edges between its node types are weighted, or many of them parallel, so that each neighbour's
  // edges of all types have to be looked at together.
  bool is_bundled(EdgeTypeId type) const { return bundled_[type.value] != 0; }

  // Calls work(chunk, thread) for all nodes of a type, on all threads; chunks cost about the same.
  void ForEachChunk(NodeTypeId type,
                    const std::function<void(const Chunk&, int thread)>& work) const;

  // Added up over the hops, each with the edges that it or one before it follows.
  int64_t CountEdges() const;

 private:
  VipGraph(const Dataset& dataset, const SamplingSpec& spec, int num_threads);

  absl::Status CheckEdges(EdgeTypeId type, const Shard& shard) const;
  absl::Status Filter(const EdgeFilter& filter);
  std::vector<Chunk> CutNodes(NodeTypeId type) const;
  void FindBundled(EdgeTypeId bundled);
  int64_t CountParallel(NodeTypeId target, NodeTypeId source) const;
  std::vector<EdgeTypeId> ListsOf(NodeTypeId target, NodeTypeId source) const;

  const Dataset& dataset_;
  const SamplingSpec& spec_;
  const int num_threads_;
  // By edge type.
  std::vector<uint8_t> followed_;
  std::vector<int> weight_columns_;  // -1: not drawn by weight
  // By shard and position, which edges are there; none: all of the type.
  std::vector<std::vector<std::vector<uint8_t>>> filters_;
  std::vector<int32_t> reverses_;
  std::vector<int> slots_;
  std::vector<uint8_t> bundled_;
  // By node type.
  std::vector<int> num_slots_;
  std::vector<std::vector<Chunk>> chunks_;
};

}  // namespace vicinity

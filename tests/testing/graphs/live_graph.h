// A whole graph that is changed while it is read, shard by shard, and what it must be once its
// changes are folded into its files: said naively, of models in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_values.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/random_batches.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::testing {

// Lifetime: the graph outlives it. A dataset that cannot be opened ends the test.
class LiveGraph {
 public:
  // `data`: a dataset that holds the graph, placed so. `changes`: a folder that is made.
  LiveGraph(const MemoryGraph& graph, const Placement& placement, const std::string& data,
            std::string changes, uint64_t seed);

  // Servers start again, or stop.
  void Reopen();
  void Close() { live_.reset(); }

  // A random batch to a random shard, or none.
  absl::Status ApplyAny();
  absl::StatusOr<AppliedBatch> Apply(int32_t shard, const proto::WriteBatch& batch);

  // Nodes that are left, shard by shard in the order of their rows, and the edges between them,
  // those of the files first, in the order of their ids.
  struct Folded {
    MemoryGraph graph;
    Placement placement;
  };
  Folded Expected() const { return Expected(ById); }
  // ... in another order of edges: by what this gives for a type, the shard and the id that an edge
  // has now.
  using EdgeOrder =
      std::function<std::pair<int, int64_t>(int32_t type, int32_t shard, int64_t edge_id)>;
  Folded Expected(const EdgeOrder& order) const;
  static std::pair<int, int64_t> ById(int32_t /*type*/, int32_t /*shard*/, int64_t edge_id) {
    return {edge_id >= LiveBase::kFirstNewEdge ? 1 : 0, edge_id};
  }

  const Dataset& dataset() const { return *dataset_; }
  LiveDataset& live() { return *live_; }
  const LiveBase& base(int32_t shard) const { return *bases_[shard]; }
  const LiveModel& model(int32_t shard) const { return *models_[shard]; }
  // Those that ApplyAny takes.
  RandomBatches& batches(int32_t shard) { return *batches_[shard]; }
  const std::string& changes() const { return changes_; }
  uint64_t Below(uint64_t limit) { return random_() % limit; }

 private:
  class Folding;

  const MemoryGraph& graph_;
  const std::string changes_;
  std::unique_ptr<Dataset> dataset_;
  std::vector<std::unique_ptr<LiveBase>> bases_;  // by shard
  std::vector<std::unique_ptr<LiveModel>> models_;
  std::vector<std::unique_ptr<RandomBatches>> batches_;
  std::vector<uint64_t> sequences_;
  std::unique_ptr<LiveDataset> live_;  // null: closed
  std::mt19937_64 random_;
};

}  // namespace vicinity::testing

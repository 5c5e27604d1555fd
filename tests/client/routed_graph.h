// A small graph as a dataset on disk, opened, and routed without any server.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/shards/shard_router.h"
#include "client/shards/traffic.h"
#include "partition/dataset/dataset.h"
#include "tests/client/far_shard.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {

// Ends the test case if the dataset cannot be written or opened.
class RoutedGraph {
 public:
  // `num_shards` shards, nodes anywhere. Those of `far` are behind a FarShard, the others mapped.
  RoutedGraph(MemoryGraph graph, int32_t num_shards, std::vector<int32_t> far = {});

  const MemoryGraph& graph() const { return graph_; }
  const Placement& placement() const { return placement_; }
  const std::string& directory() const { return directory_; }
  const Dataset& dataset() const { return *dataset_; }
  const ShardRouter& router() const { return *router_; }
  const TrafficCounters& traffic() const { return traffic_; }
  Faults* faults() { return &faults_; }

  // Global ids of all nodes of a type, by position.
  std::vector<int64_t> GlobalIds(NodeTypeId type) const;

  // Stores a ranking of every node for each shard alone and for all together, likeliest first by
  // position, and opens the dataset anew.
  void Rank(const std::string& name);
  // A ranking for each home, by default for each shard alone, with probabilities in (0, 1] by home,
  // position and global id.
  using ProbabilityOf = std::function<float(int32_t home, int64_t position, int64_t node)>;
  void Rank(const std::string& name, const ProbabilityOf& probability,
            std::vector<std::vector<int32_t>> homes = {});

 private:
  void Open();

  const MemoryGraph graph_;
  const Placement placement_;
  const std::vector<int32_t> far_;
  const TempDir folder_;
  const std::string directory_;
  TrafficCounters traffic_;
  Faults faults_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<ShardRouter> router_;
};

}  // namespace vicinity::testing

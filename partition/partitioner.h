// Cuts a dataset: writes every node to the shard it was assigned to, in a given order, with
// its rows and in-edges, and proves that nothing was lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/assigner.h"
#include "partition/dataset.h"
#include "partition/progress.h"

namespace vicinity {

// order[type]: the source's global ids, shard by shard, in the order they are to have inside it.
struct NodeOrder {
  std::vector<std::vector<int64_t>> order;
};

// Inside every shard the nodes with the highest scores first: scores[type][node] (of the node's
// own shard as home); ties, and all nodes where `scores` is empty, in the source's order.
NodeOrder OrderNodes(const Assignment& assignment, const std::vector<std::vector<float>>& scores);

// Streams shard by shard into `directory`; memory O(nodes), the rest is mapped. The audit of the result is
// compared with the source's manifest before the directory appears.
absl::Status WritePartition(const Dataset& source, const Assignment& assignment,
                            const NodeOrder& order, const std::string& directory,
                            const std::string& provenance, Progress* progress);

// How good a cut is. Loads are by shard; imbalance is max / mean.
struct CutReport {
  struct Load {
    std::string what;  // "nodes", "train nodes", "in-edges", ...
    std::vector<int64_t> by_shard;
    double imbalance = 1;
  };
  int64_t num_edges = 0;
  int64_t cut_edges = 0;              // source and target in different shards
  std::vector<Load> loads;
  std::vector<int64_t> halo_nodes;    // by shard: distinct remote sources of its in-edges
};
CutReport ReportCut(const Dataset& source, const Assignment& assignment);

}  // namespace vicinity

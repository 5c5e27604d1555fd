// How good a cut is: what it cuts, and how evenly it loads the shards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"

namespace vicinity {

// Loads are by shard; imbalance is max / mean.
struct CutReport {
  struct Load {
    std::string what;  // "nodes", "train nodes", "in-edges", ...
    std::vector<int64_t> by_shard;
    double imbalance = 1;
  };
  int64_t num_edges = 0;
  int64_t cut_edges = 0;            // source and target in different shards
  std::vector<Load> loads;          // those that are not all 0
  std::vector<int64_t> halo_nodes;  // by shard: distinct remote sources of its in-edges
};

// Loads told: nodes, those of each type where there are several, train, validation, test and other
// nodes, in-edges, and bytes of node rows. `dataset` must be whole and fit the assignment.
//
// Memory: 12 bytes a node. Cost: one pass over the edges.
CutReport ReportCut(const Dataset& source, const Assignment& assignment);

}  // namespace vicinity

// Cuts a dataset: writes every node to the shard it was assigned to, in a given order, with
// its rows and in-edges, and proves that nothing was lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"

namespace vicinity {

// order[type]: the source's global ids, shard by shard, in the order they are to have inside it:
// a node's new global id is its position here.
struct NodeOrder {
  std::vector<std::vector<int64_t>> order;
};

// Inside every shard the nodes with the highest scores first: scores[type][node] (of the node's
// own shard as home); ties, and all nodes where `scores` is empty, in the source's order.
NodeOrder OrderNodes(const Assignment& assignment, const std::vector<std::vector<float>>& scores);

// Streams shard by shard into `directory`. The audit of the result is compared with the source's
// manifest before the directory appears. Memory: 8 bytes a node; the rest is mapped.
//
// InvalidArgument if the assignment or the order does not fit the source (each node once, shard by
// shard); what ReadWhole says of the source's files, all of which are verified; DataLoss if
// anything came out changed; else what DatasetWriter says. Nothing is left on disk then.
absl::Status WritePartition(const Dataset& source, const Assignment& assignment,
                            const NodeOrder& order, const std::string& directory,
                            const std::string& provenance, Progress* progress);

}  // namespace vicinity

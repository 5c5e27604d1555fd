// What checksums cannot tell: whether the content of a dataset's files makes sense together.
#pragma once

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"

namespace vicinity {

// For all shards of a whole dataset, with several threads: offsets in order, sources inside the
// book, lists in their order, that of time where they have one, weight tables that their columns
// make, names that make their keys, dense ids below their count, a directory that lists every node
// once, sorted, in the shard its key belongs to, and indexes that their columns make. DataLoss
// naming file and position.
absl::Status CheckShards(const Dataset& dataset, Progress* progress);

}  // namespace vicinity

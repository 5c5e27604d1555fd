// Makes a new dataset of one and of what has changed since: the same graph as it is read at these
// versions, in as many shards, in files that need no changes beside them.
//
// A node stays in its shard, a new one in that which lists its key, in the order of their rows.
// Nodes whose key is gone leave with their edges, and edges that are gone leave. Lists are in the
// stored order (docs/formats.md) again. Edges are numbered anew, from 0 on without gaps, those of
// the files before new ones, in the order of the ids that they have. Node types of dense ids whose
// ids are no longer 0 to n - 1 get 64-bit ids, which are the same numbers. Rankings and indexes are
// not taken over: they are those of the old files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "partition/fold/fold_source.h"
#include "proto/common/progress.h"

namespace vicinity {

// What became of the nodes or edges of one type.
struct FoldedType {
  std::string name;
  int64_t in_files = 0;          // before
  int64_t kept = 0;              // of these
  int64_t added = 0;             // new ones that there still are
  bool no_longer_dense = false;  // of nodes: their ids have gaps now

  int64_t removed() const { return in_files - kept; }
};

struct FoldReport {
  std::vector<uint64_t> versions;  // of each shard
  std::vector<FoldedType> node_types;
  std::vector<FoldedType> edge_types;
  // What the new dataset goes without.
  std::vector<std::string> rankings;
  int64_t num_indexes = 0;
};

// Writes the new dataset to `directory`, which appears whole or not at all. Errors: DataLoss or
// Unavailable of what is read; InvalidArgument naming file and edge: a weight that is a copy of a
// node's value is none now; else DatasetWriter's.
//
// Threads: uses all cores; `progress` is told by the calling thread.
// Memory:  9 bits a node, and an edge id of the largest type; 16 bytes a key of the largest
//          directory; what the overlays take. The rest is mapped.
absl::StatusOr<FoldReport> WriteFolded(const FoldSource& source, const std::string& directory,
                                       Progress* progress);

// The same with the last versions that lie in `changes`, a folder with one of each shard
// ("shard-00003"), as servers make it. Nobody writes there meanwhile.
//
// NotFound naming a shard whose changes are not there; FailedPrecondition naming the folder while a
// server has it, or if they are changes of another dataset; else as above.
absl::StatusOr<FoldReport> FoldChanges(const Dataset& dataset, const std::string& changes,
                                       const std::string& directory, Progress* progress);

}  // namespace vicinity

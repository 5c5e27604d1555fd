// The edges that are left, written to a new dataset.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "partition/fold/fold_source.h"
#include "partition/fold/kept_nodes.h"
#include "partition/fold/node_copy.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"

namespace vicinity {

// How many edges of one type were left.
struct CopiedEdges {
  int64_t kept = 0;   // of the files
  int64_t added = 0;  // new ones
};

// Writes the lists of all shards: edges between nodes that are left, in the stored order
// (docs/formats.md), numbered anew from 0 on without gaps, those of the files first, all in the
// order of their ids. A copy of a column of the sources (ColumnSpec::of_source) is made again of
// what the sources have now. Errors: of who reads and who writes.
//
// Threads: uses all cores.
// Memory:  9 bits an edge id of the type; of each thread some 16 MiB, or the longest list.
absl::StatusOr<CopiedEdges> CopyEdges(const FoldSource& source, const KeptNodes& kept,
                                      const WrittenNodes& nodes, EdgeTypeId type,
                                      DatasetWriter* writer, Progress* progress);

}  // namespace vicinity

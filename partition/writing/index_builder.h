// Stored indexes for a dataset that is there already (partition/dataset/column_index.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/common/folder_lock.h"
#include "proto/common/progress.h"

namespace vicinity {

// A column to be indexed, by positions in the schema.
struct ColumnToIndex {
  bool of_edges = false;
  int32_t type = 0;
  int32_t column = 0;
};

struct IndexReport {
  int64_t num_built = 0;  // of the columns; the others had one
  int64_t num_bytes = 0;  // of the files that were written
};

// Writes a file for each shard and column that has no index yet, and enters the indexes in the
// manifest; a server has them when it opens the dataset anew. InvalidArgument for a column that is
// not there, has not one value a row, or is named twice; FailedPrecondition for a dataset of format
// version 1, and as LockWait says; DataLoss for a column that is damaged. Nothing has changed then.
//
// Killed at any moment it leaves the old indexes, and perhaps files that nothing lists, which the
// next one that indexes these columns replaces.
//
// Threads: uses all cores. Memory: 12 bytes for each of 2^22 rows and core.
absl::StatusOr<IndexReport> BuildIndexes(const std::string& directory,
                                         const std::vector<ColumnToIndex>& columns,
                                         const LockWait& wait, Progress* progress);

}  // namespace vicinity

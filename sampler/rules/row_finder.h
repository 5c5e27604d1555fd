// Finds the rows of a shard that meet a condition: of mapped shards here, of others on their
// servers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/condition.h"
#include "proto/common/ids.h"
#include "sampler/rules/condition_filter.h"
#include "sampler/rules/found_rows.h"

namespace vicinity {

// Threads:  one at a time; keeps its memory from call to call.
// Lifetime: the reader's shard and overlay must outlive it.
// Memory:   as ConditionFilter, and the values of kRowsAtOnce rows of each of its columns.
class RowFinder {
 public:
  // So many rows are read, and evaluated, at a time: values of 8 bytes lie in the caches.
  static constexpr int64_t kRowsAtOnce = 16'384;

  // `where` is complete (CompleteCondition) for the columns of the type.
  RowFinder(const ShardReader& reader, NodeTypeId type, RowCondition where);
  RowFinder(const ShardReader& reader, EdgeTypeId type, RowCondition where);
  RowFinder(const RowFinder&) = delete;
  RowFinder& operator=(const RowFinder&) = delete;

  // Adds those of rows [first, first + count), which the shard has. Errors as ShardReader; then
  // `found` has some of them.
  absl::Status Find(int64_t first, int64_t count, FoundRows* found);

 private:
  absl::Status FindSome(int64_t first, int64_t count, FoundRows* found);

  const ShardReader reader_;
  const RowCondition where_;
  ConditionFilter filter_;
  std::vector<ShardColumn> columns_;  // as filter_.columns()
  std::vector<std::string> values_;   // of each, the rows read last
};

}  // namespace vicinity

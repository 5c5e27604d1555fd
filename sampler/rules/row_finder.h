// Finds the rows of a shard that meet a condition: of mapped shards here, of others on their
// servers. By stored indexes where those leave few rows, else by reading all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/condition.h"
#include "proto/common/ids.h"
#include "sampler/rules/condition_filter.h"
#include "sampler/rules/found_rows.h"
#include "sampler/rules/index_search.h"

namespace vicinity {

// Threads:  one at a time; keeps its memory from call to call.
// Lifetime: the reader's shard and overlay must outlive it.
// Memory:   as ConditionFilter and IndexSearch, and the values of kRowsAtOnce rows of each column.
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
  // Of columns that have an index, and whose rows are all as in the files.
  void UseIndexes(const std::vector<ColumnView>& stored);
  // Of one run of indexes.
  absl::Status FindInRun(int64_t first, int64_t count, FoundRows* found);
  absl::Status Search(int64_t run);
  absl::Status ReadAll(int64_t first, int64_t count, FoundRows* found);
  // Adds those of `rows` that meet the condition.
  absl::Status ReadThese(absl::Span<const uint64_t> rows, FoundRows* found);
  std::vector<const char*> Values() const;

  const ShardReader reader_;
  const RowCondition where_;
  ConditionFilter filter_;
  std::vector<ShardColumn> columns_;   // as filter_.columns()
  std::vector<std::string> values_;    // of each, the rows read last
  std::optional<IndexSearch> search_;  // none: no index
  int64_t searched_run_ = -1;
  IndexedRows searched_;  // of that run
};

}  // namespace vicinity

#include "sampler/rules/row_finder.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/types/span.h"
#include "proto/common/status.h"

namespace vicinity {

RowFinder::RowFinder(const ShardReader& reader, NodeTypeId type, RowCondition where)
    : reader_(reader),
      where_(std::move(where)),
      filter_(where_),
      values_(filter_.columns().size()) {
  for (const int32_t column : filter_.columns()) {
    columns_.push_back(reader_.NodeColumn(type, column));
  }
}

RowFinder::RowFinder(const ShardReader& reader, EdgeTypeId type, RowCondition where)
    : reader_(reader),
      where_(std::move(where)),
      filter_(where_),
      values_(filter_.columns().size()) {
  for (const int32_t column : filter_.columns()) {
    columns_.push_back(reader_.EdgeColumn(type, column));
  }
}

absl::Status RowFinder::Find(int64_t first, int64_t count, FoundRows* found) {
  const int64_t end = first + count;
  for (int64_t row = first; row < end; row += kRowsAtOnce) {
    VICINITY_RETURN_IF_ERROR(FindSome(row, std::min(kRowsAtOnce, end - row), found));
  }
  return absl::OkStatus();
}

absl::Status RowFinder::FindSome(int64_t first, int64_t count, FoundRows* found) {
  std::vector<const char*> values;
  for (size_t i = 0; i < columns_.size(); ++i) {
    // A copy: a file that changes while it is read is read again, and nothing of it counts before.
    VICINITY_RETURN_IF_ERROR(reader_.ReadRange(columns_[i], first, count, [&](const char* rows) {
      values_[i].assign(rows, static_cast<size_t>(count * columns_[i].row_bytes()));
    }));
    values.push_back(values_[i].data());
  }
  const absl::Span<const uint8_t> meet = filter_.Evaluate(values, count);
  for (int64_t i = 0; i < count; ++i) {
    if (meet[i] != 0) found->rows.push_back(static_cast<uint64_t>(first + i));
  }
  found->num_read += count;
  return absl::OkStatus();
}

}  // namespace vicinity

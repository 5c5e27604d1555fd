#include "client/rpc/found_reader.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "client/rpc/wire_array.h"
#include "proto/common/status.h"

namespace vicinity {

FoundReader::FoundReader(const ShardFind& find, TrafficCounters* traffic)
    : first_(static_cast<uint64_t>(find.first)),
      count_(static_cast<uint64_t>(find.count)),
      found_(find.out),
      traffic_(traffic) {}

absl::Status FoundReader::Add(const proto::FindChunk& chunk, const SlicedMessage& message) {
  const SlicedBytes& rows = message[proto::FindChunk::kRowsFieldNumber];
  if (chunk.looked() <= looked_ || chunk.looked() > count_) {
    return absl::InternalError(
        absl::StrCat(chunk.looked(), " rows looked at, behind ", looked_, " of ", count_));
  }
  const uint64_t looked_at = chunk.looked() - looked_;
  // More rows than are looked at would fill our memory before they are seen not to rise.
  if (rows.size() % sizeof(uint64_t) != 0 || rows.size() / sizeof(uint64_t) > looked_at ||
      chunk.rows_read() > looked_at) {
    return absl::InternalError(absl::StrCat(rows.size(), " bytes of rows that meet a condition, ",
                                            chunk.rows_read(), " read, of ", looked_at));
  }
  const size_t before = found_->rows.size();
  AppendArray(rows, &found_->rows);
  VICINITY_RETURN_IF_ERROR(CheckRows(before, first_ + looked_, first_ + chunk.looked()));
  found_->num_read += static_cast<int64_t>(chunk.rows_read());
  looked_ = chunk.looked();
  traffic_->CountReceived(message.BulkBytes());
  return absl::OkStatus();
}

// Those from `before` on, of [begin, end).
absl::Status FoundReader::CheckRows(size_t before, uint64_t begin, uint64_t end) const {
  uint64_t least = begin;
  for (size_t i = before; i < found_->rows.size(); ++i) {
    const uint64_t row = found_->rows[i];
    if (row < least || row >= end) {
      return absl::InternalError(absl::StrCat("row ", row, " meets a condition, where rows from ",
                                              least, " to below ", end, " may"));
    }
    least = row + 1;
  }
  return absl::OkStatus();
}

absl::Status FoundReader::Finish() const {
  if (looked_ == count_) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(looked_, " rows looked at where ", count_, " were to be"));
}

}  // namespace vicinity

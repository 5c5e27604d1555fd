#include "client/rpc/rows_reader.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/common/row_prefetch.h"
#include "proto/narrow_floats.h"

namespace vicinity {

RowsReader::RowsReader(const ShardRows& rows, proto::Precision precision, TrafficCounters* traffic)
    : rows_(rows),
      num_rows_(rows.num_elements()),
      precision_(precision),
      wire_row_bytes_(precision == proto::PRECISION_STORED ? rows.row_bytes : rows.row_bytes / 2),
      traffic_(traffic) {}

absl::Status RowsReader::Add(const proto::RowsChunk& chunk, const SlicedBytes& wire) {
  const auto bytes = static_cast<int64_t>(wire.size());
  const int64_t count = bytes / wire_row_bytes_;
  if (static_cast<int64_t>(chunk.first()) != received_ || bytes % wire_row_bytes_ != 0 ||
      count > num_rows_ - received_ || chunk.precision() != precision_) {
    return absl::InternalError(absl::StrCat(
        bytes, " bytes of rows of ", proto::Precision_Name(chunk.precision()), " from row ",
        chunk.first(), " where row ", received_, " of ", num_rows_, " is next, of ",
        proto::Precision_Name(precision_), " and ", wire_row_bytes_, " bytes each"));
  }
  if (precision_ != proto::PRECISION_STORED) {
    Widen(count, wire);
  } else if (rows_.positions.empty()) {
    wire.CopyTo(Place(received_));
  } else {
    SlicedBytes::Cursor from(wire);
    const int64_t ahead = PrefetchDistance(rows_.row_bytes);
    for (int64_t i = received_; i < received_ + count; ++i) {
      if (i + ahead < num_rows_) PrefetchPlace(Place(i + ahead), rows_.row_bytes);
      from.Read(Place(i), rows_.row_bytes);
    }
  }
  received_ += count;
  traffic_->rows_remote.Add(count);
  traffic_->CountReceived(bytes);
  return absl::OkStatus();
}

absl::Status RowsReader::Finish() const {
  if (received_ == num_rows_) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(received_, " rows where ", num_rows_, " were asked for"));
}

char* RowsReader::Place(int64_t i) const {
  const int64_t at = rows_.positions.empty() ? i : rows_.positions[i];
  return rows_.out + at * rows_.row_bytes;
}

void RowsReader::Widen(int64_t count, const SlicedBytes& wire) {
  std::string scratch(wire_row_bytes_, '\0');
  SlicedBytes::Cursor from(wire);
  for (int64_t i = received_; i < received_ + count; ++i) {
    const char* const halves = from.Take(scratch.size(), &scratch[0]);
    if (halves == scratch.data()) {
      traffic_->bytes_copied.Add(wire_row_bytes_);
    }
    WidenFloats(precision_, halves, scratch.size() / sizeof(uint16_t), Place(i));
  }
}

}  // namespace vicinity

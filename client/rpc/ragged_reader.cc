#include "client/rpc/ragged_reader.h"

#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/rpc/wire_array.h"

namespace vicinity {

RaggedReader::RaggedReader(const ShardRagged& rows, TrafficCounters* traffic)
    : rows_(rows), num_rows_(rows.num_elements()), traffic_(traffic) {}

absl::Status RaggedReader::Add(const proto::RaggedChunk& chunk, const SlicedMessage& message) {
  const SlicedBytes& sent_lengths = message[proto::RaggedChunk::kLengthsFieldNumber];
  const SlicedBytes& bytes = message[proto::RaggedChunk::kRowsFieldNumber];
  if (sent_lengths.size() % sizeof(uint32_t) != 0) {
    return absl::InternalError(absl::StrCat(sent_lengths.size(), " bytes of lengths of rows"));
  }
  std::vector<uint32_t> lengths;
  AppendArray(sent_lengths, &lengths);
  const auto count = static_cast<int64_t>(lengths.size());
  const uint64_t total = std::accumulate(lengths.begin(), lengths.end(), uint64_t{0});
  if (static_cast<int64_t>(chunk.first()) != received_ || count > num_rows_ - received_ ||
      total != bytes.size()) {
    return absl::InternalError(absl::StrCat(count, " rows of ", total, " bytes in ", bytes.size(),
                                            " from row ", chunk.first(), " where row ", received_,
                                            " of ", num_rows_, " is next"));
  }
  SlicedBytes::Cursor from(bytes);
  for (const uint32_t length : lengths) {
    std::string& row = rows_.out[rows_.positions[received_]];
    row.resize(length);
    from.Read(&row[0], length);
    ++received_;
  }
  traffic_->CountReceived(message.BulkBytes());
  return absl::OkStatus();
}

absl::Status RaggedReader::Finish() const {
  if (received_ == num_rows_) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(received_, " rows where ", num_rows_, " were asked for"));
}

}  // namespace vicinity

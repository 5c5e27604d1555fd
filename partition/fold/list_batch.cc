#include "partition/fold/list_batch.h"

namespace vicinity {

void ListBatch::Clear() {
  rows.clear();
  ends.clear();
  sources.clear();
  edge_ids.clear();
  positions.clear();
}

void ListBatch::Add(uint64_t row, const ListPart& list) {
  for (int64_t i = 0; i < list.size(); ++i) {
    sources.push_back(static_cast<uint64_t>(list.source(i)));
    edge_ids.push_back(static_cast<uint64_t>(list.edge_id(i)));
    positions.push_back(static_cast<uint64_t>(list.position(i)));
  }
  rows.push_back(row);
  ends.push_back(sources.size());
}

void ListBatch::Add(uint64_t row, const ChangedList& list) {
  sources.insert(sources.end(), list.sources.begin(), list.sources.end());
  edge_ids.insert(edge_ids.end(), list.edge_ids.begin(), list.edge_ids.end());
  positions.insert(positions.end(), list.positions.begin(), list.positions.end());
  rows.push_back(row);
  ends.push_back(sources.size());
}

namespace list_batch_internal {

absl::Status ReadUnchanged(const ShardReader& reader, EdgeTypeId type, NodeTypeId target_type,
                           absl::Span<const uint64_t> rows, ListBatch* batch) {
  return reader.ReadWholeLists(
      type, target_type, {}, rows, [&] { batch->Clear(); },
      [&](size_t i, uint64_t, const ListPart& list, const auto&) { batch->Add(rows[i], list); });
}

absl::StatusOr<size_t> RowsForBatch(const ShardReader& reader, EdgeTypeId type,
                                    absl::Span<const uint64_t> rows) {
  size_t count = 0;
  size_t num_edges = 0;
  VICINITY_RETURN_IF_ERROR(reader.ReadDegrees(
      type, rows, [&] { count = num_edges = 0; },
      [&](size_t, int64_t degree) {
        num_edges += static_cast<size_t>(degree);
        if (count > 0 && num_edges > kEdgesABatch) return false;
        ++count;
        return true;
      }));
  return count;
}

}  // namespace list_batch_internal
}  // namespace vicinity

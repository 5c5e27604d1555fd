#include "partition/fold/list_batch.h"

namespace vicinity {
namespace {

constexpr size_t kEdgesABatch = size_t{1} << 17;

}  // namespace

ListBatches::ListBatches(const FoldSource& source, ShardId shard, EdgeTypeId type)
    : source_(source),
      shard_(shard),
      type_(type),
      target_type_{source.schema().edge_types[type.value].target_type} {
  batch_.edges_in_files_ = source.dataset().shard(shard)->edges(type).num_edges();
}

absl::StatusOr<size_t> ListBatches::Fill(absl::Span<const uint64_t> rows) {
  // Rows rise, so those that are not in the files come last.
  const auto in_files = static_cast<size_t>(
      std::lower_bound(rows.begin(), rows.end(), source_.files(shard_).num_targets(type_)) -
      rows.begin());
  size_t count = rows.size();
  if (in_files > 0) {
    VICINITY_ASSIGN_OR_RETURN(count, RowsForBatch(rows.subspan(0, in_files)));
  }
  rows = rows.subspan(0, count);
  VICINITY_RETURN_IF_ERROR(ReadFiles(rows.subspan(0, std::min(count, in_files))));
  for (size_t i = batch_.rows_.size(); i < count; ++i) {
    const size_t end = batch_.sources_.size();
    batch_.rows_.push_back({rows[i], end, end, 0});
  }
  batch_.differences_.clear();
  for (ListBatch::Row& row : batch_.rows_) {
    if (!source_.reader(shard_).ChangesLists(type_, {row.row})) continue;
    LiveView::Difference difference = source_.view(shard_).FindDifference(type_.value, row.row);
    if (difference.changes == 0) continue;
    row.difference = static_cast<int64_t>(batch_.differences_.size());
    batch_.differences_.push_back(std::move(difference));
  }
  return count;
}

absl::StatusOr<size_t> ListBatches::RowsForBatch(absl::Span<const uint64_t> rows) const {
  size_t count = 0;
  size_t num_edges = 0;
  VICINITY_RETURN_IF_ERROR(source_.files(shard_).ReadDegrees(
      type_, rows, [&] { count = num_edges = 0; },
      [&](size_t, int64_t degree) {
        num_edges += static_cast<size_t>(degree);
        if (count > 0 && num_edges > kEdgesABatch) return false;
        ++count;
        return true;
      }));
  return count;
}

absl::Status ListBatches::ReadFiles(absl::Span<const uint64_t> rows) {
  return source_.files(shard_).ReadWholeLists(
      type_, target_type_, {}, rows,
      [&] {
        batch_.rows_.clear();
        batch_.sources_.clear();
        batch_.edge_ids_.clear();
      },
      [&](size_t i, uint64_t, const ListPart& list, const auto&) {
        const size_t begin = batch_.sources_.size();
        for (int64_t e = 0; e < list.size(); ++e) {
          batch_.sources_.push_back(static_cast<uint64_t>(list.source(e)));
          batch_.edge_ids_.push_back(list.edge_id(e));
        }
        const int64_t position = list.size() == 0 ? 0 : list.position(0);
        batch_.rows_.push_back(
            {rows[i], begin, batch_.sources_.size(), static_cast<uint64_t>(position)});
      });
}

}  // namespace vicinity

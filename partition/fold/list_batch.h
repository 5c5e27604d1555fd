// Some in-edge lists of a shard as they are now, for who goes through all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/shard_overlay.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {

// Lists one behind the other: edges [i == 0 ? 0 : ends[i - 1], ends[i]) lead to row rows[i].
struct ListBatch {
  std::vector<uint64_t> rows;
  std::vector<size_t> ends;
  std::vector<uint64_t> sources;  // global ids
  std::vector<uint64_t> edge_ids;
  std::vector<uint64_t> positions;  // of the edges' rows

  size_t num_edges() const { return sources.size(); }
  size_t begin(size_t list) const { return list == 0 ? 0 : ends[list - 1]; }
  void Clear();
  // The part must be a whole list.
  void Add(uint64_t row, const ListPart& list);
  void Add(uint64_t row, const ChangedList& list);
};

// Calls take(batch, changed) with all lists of these rows, each once, in any order: some that have
// changed since the files were written, or some that have not. `take` gives a status.
//
// Memory: some 10 MiB, or the longest list.
template <typename Take>
absl::Status ReadLists(const ShardReader& reader, EdgeTypeId type, NodeTypeId target_type,
                       absl::Span<const uint64_t> rows, const Take& take);

namespace list_batch_internal {

inline constexpr size_t kEdgesABatch = size_t{1} << 17;

// Those that are as in the files.
absl::Status ReadUnchanged(const ShardReader& reader, EdgeTypeId type, NodeTypeId target_type,
                           absl::Span<const uint64_t> rows, ListBatch* batch);
// How many of these rows, which are as in the files, make a batch: at least one.
absl::StatusOr<size_t> RowsForBatch(const ShardReader& reader, EdgeTypeId type,
                                    absl::Span<const uint64_t> rows);

}  // namespace list_batch_internal

template <typename Take>
absl::Status ReadLists(const ShardReader& reader, EdgeTypeId type, NodeTypeId target_type,
                       absl::Span<const uint64_t> rows, const Take& take) {
  std::vector<uint64_t> unchanged;
  ListBatch batch;
  for (const uint64_t row : rows) {
    ChangedListPtr list;
    if (reader.ChangesLists(type, {row})) {
      VICINITY_ASSIGN_OR_RETURN(list, reader.FindChangedList(type, row));
    }
    if (list == nullptr) {
      unchanged.push_back(row);
      continue;
    }
    batch.Add(row, *list);
    if (batch.num_edges() < list_batch_internal::kEdgesABatch) continue;
    VICINITY_RETURN_IF_ERROR(take(batch, true));
    batch.Clear();
  }
  if (!batch.rows.empty()) VICINITY_RETURN_IF_ERROR(take(batch, true));
  absl::Span<const uint64_t> left = unchanged;
  while (!left.empty()) {
    VICINITY_ASSIGN_OR_RETURN(const size_t count,
                              list_batch_internal::RowsForBatch(reader, type, left));
    VICINITY_RETURN_IF_ERROR(list_batch_internal::ReadUnchanged(reader, type, target_type,
                                                                left.subspan(0, count), &batch));
    VICINITY_RETURN_IF_ERROR(take(batch, false));
    left.remove_prefix(count);
  }
  return absl::OkStatus();
}

}  // namespace vicinity

// Some in-edge lists of a shard: as the files have them, and beside that what has changed of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/shard_reader.h"
#include "partition/fold/fold_source.h"
#include "partition/overlay/live_view.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {

// One edge of a list.
struct ListedEdge {
  uint64_t source;  // a global id
  int64_t edge_id;  // of one in the files
  int64_t number;   // of one that is new, among the shard's new ones of the type; -1: in the files
  uint64_t position;  // of its row
};

// Memory: 16 bytes an edge of the files, and what has changed.
class ListBatch {
 public:
  size_t num_lists() const { return rows_.size(); }
  uint64_t row(size_t list) const { return rows_[list].row; }
  bool has_changed(size_t list) const { return rows_[list].difference >= 0; }

  // Calls visit(edge) for a list as it is now: what is left of the files', in its order, then what
  // is new.
  template <typename Visit>
  void ForEachEdge(size_t list, const Visit& visit) const {
    const Row& row = rows_[list];
    const LiveView::Difference* const difference =
        row.difference < 0 ? nullptr : &differences_[row.difference];
    for (size_t i = row.begin; i < row.end; ++i) {
      const auto position = static_cast<int64_t>(row.position + i - row.begin);
      if (difference != nullptr && IsGone(*difference, position)) continue;
      visit(ListedEdge{sources_[i], edge_ids_[i], -1, static_cast<uint64_t>(position)});
    }
    if (difference == nullptr) return;
    for (size_t i = 0; i < difference->added.size(); ++i) {
      const int64_t number = difference->added[i];
      visit(ListedEdge{difference->sources[i], 0, number,
                       static_cast<uint64_t>(edges_in_files_ + number)});
    }
  }

 private:
  friend class ListBatches;
  struct Row {
    uint64_t row;
    size_t begin;  // in sources_ and edge_ids_
    size_t end;
    uint64_t position;        // of its first edge in the files
    int64_t difference = -1;  // in differences_
  };

  static bool IsGone(const LiveView::Difference& difference, int64_t position) {
    return difference.cleared ||
           std::binary_search(difference.gone.begin(), difference.gone.end(), position);
  }

  std::vector<Row> rows_;
  std::vector<uint64_t> sources_;
  std::vector<int64_t> edge_ids_;
  std::vector<LiveView::Difference> differences_;
  int64_t edges_in_files_ = 0;
};

// Reads the lists of one edge type in one shard, batch by batch.
//
// Threads: one at a time. Lifetime: the source outlives it.
class ListBatches {
 public:
  ListBatches(const FoldSource& source, ShardId shard, EdgeTypeId type);

  // Calls take(batch), which gives a status, until all of these rows have been in one.
  //
  // Memory: of a batch of some 130,000 edges, or the longest list.
  template <typename Take>
  absl::Status Read(absl::Span<const uint64_t> rows, const Take& take) {
    while (!rows.empty()) {
      VICINITY_ASSIGN_OR_RETURN(const size_t count, Fill(rows));
      VICINITY_RETURN_IF_ERROR(take(batch_));
      rows.remove_prefix(count);
    }
    return absl::OkStatus();
  }

 private:
  // How many of the first rows are in the batch now: at least one.
  absl::StatusOr<size_t> Fill(absl::Span<const uint64_t> rows);
  absl::StatusOr<size_t> RowsForBatch(absl::Span<const uint64_t> rows) const;
  absl::Status ReadFiles(absl::Span<const uint64_t> rows);

  const FoldSource& source_;
  const ShardId shard_;
  const EdgeTypeId type_;
  const NodeTypeId target_type_;
  ListBatch batch_;
};

}  // namespace vicinity

// A shard with its changes up to one version, for its readers.
#pragma once

#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/shard_overlay.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/delta_index.h"
#include "partition/overlay/delta_store.h"
#include "partition/overlay/hot_rows.h"
#include "partition/overlay/list_cache.h"
#include "partition/overlay/live_base.h"

namespace vicinity {

// What all views of a shard read.
struct LiveState {
  LiveState(const LiveBase& base, std::unique_ptr<DeltaStore> store, int64_t row_cache_bytes,
            int64_t list_cache_bytes);

  const LiveBase base;
  const ShardReader files;  // without changes
  const std::unique_ptr<DeltaStore> store;
  // Of the index and rows: readers share it. Not ours (proto/common/mutex.h), which none can share.
  mutable std::shared_mutex mu;
  mutable DeltaIndex index;  // reading changes where rows are kept, and nothing else
  mutable HotRows rows;
  mutable ListCache lists;
};

// Lifetime: the state must outlive it; versions up to its own must be in the index.
class LiveView final : public ShardOverlay {
 public:
  // `term`: in which the version was written.
  LiveView(const LiveState& state, uint64_t version, uint64_t term)
      : state_(state), version_(version), term_(term) {}
  uint64_t version() const override { return version_; }
  uint64_t term() const override { return term_; }

  bool Changes(const ShardPart& part, absl::Span<const uint64_t> rows) const override;
  bool ChangesRange(const ShardPart& part, int64_t first, int64_t count) const override;
  int64_t NumRows(const ShardPart& part, int64_t in_files) const override;
  absl::Status ReadRows(const ShardPart& part, absl::Span<const uint64_t> rows,
                        ChangedRows* changed) const override;
  std::optional<int64_t> Node(int32_t node_type, uint64_t key) const override;
  absl::StatusOr<ChangedListPtr> List(int32_t edge_type, uint64_t row) const override;

  // What a list is, besides the files' part of it: for who has that, and asks only where
  // ShardReader::ChangesLists.
  struct Difference {
    uint64_t changes = 0;           // how many there have been; 0: it is as in the files
    bool cleared = false;           // nothing of the files is left
    std::vector<int64_t> gone;      // positions, rising
    std::vector<int64_t> added;     // numbers of edges among the shard's new ones; they rise
    std::vector<uint64_t> sources;  // theirs
  };
  Difference FindDifference(int32_t edge_type, uint64_t row) const;
  // Of the shard's new edges of a type, also of those that have gone, the sources from the
  // `first`-th on: `most` of them, or as many as there are at this version.
  std::vector<uint64_t> SourcesOfNewEdges(int32_t edge_type, int64_t first, int64_t most) const;

 private:
  int64_t RowsInFiles(const ShardPart& part) const;
  // Rows that have no number in the files, or whose bit is set.
  bool MayChange(const ShardPart& part, absl::Span<const uint64_t> rows) const;
  struct Missing;
  // Positions of the rows that are not surely as in the files.
  std::vector<size_t> MayBeOthers(const ShardPart& part, absl::Span<const uint64_t> rows) const;
  void TakeKnown(const ShardPart& part, absl::Span<const uint64_t> rows, ChangedRows* changed,
                 Missing* missing) const;
  // Of new nodes.
  void TakeKeys(int32_t type, absl::Span<const uint64_t> rows, absl::Span<const size_t> positions,
                ChangedRows* changed) const;
  struct Sought {
    size_t position;
    uint64_t row;
    DeltaIndex::Row found;
  };
  void TakeRow(const ShardPart& part, const Sought& sought, const HotRows::Part& hot,
               ChangedRows* changed, Missing* missing) const;
  Difference DifferenceOf(int32_t edge_type, const ListDelta& delta) const;
  absl::StatusOr<ChangedListPtr> MakeList(int32_t edge_type, uint64_t row,
                                          const Difference& difference) const;
  absl::Status AddFromFiles(int32_t edge_type, uint64_t row, const Difference& difference,
                            ChangedList* list) const;
  void AddNew(int32_t edge_type, const Difference& difference, ChangedList* list) const;
  absl::Status AddWeights(int32_t edge_type, ChangedList* list) const;

  const LiveState& state_;
  const uint64_t version_;
  const uint64_t term_;
};

}  // namespace vicinity

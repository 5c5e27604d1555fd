// Which nodes of a dataset with changes there still are, and which number each gets when it is
// written anew: those of a shard stay in it in the order of their rows, so that new ones come
// behind those of the files, and nobody's number leaves a gap.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "partition/dataset/book.h"
#include "partition/fold/fold_source.h"
#include "partition/fold/ranked_bits.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"

namespace vicinity {

// A node is there as long as its key leads to it. One whose key is gone, or has another node now,
// is not.
//
// Threads: immutable; any number may read.
// Memory:  9 bits a node.
class KeptNodes {
 public:
  // Looks for every node of `source`, which outlives the result.
  static absl::StatusOr<KeptNodes> Find(const FoldSource& source, Progress* progress);

  // The boundaries of the nodes that are left.
  absl::StatusOr<Book> NewBook() const;
  // -1: there is no such node (any more). `node`: any id.
  int64_t NewId(NodeTypeId type, uint64_t node) const {
    const OfType& of_type = types_[type.value];
    if (node < of_type.same_below) return static_cast<int64_t>(node);
    return Look(of_type, type, node);
  }

  // With new ones, and those that are gone.
  int64_t num_rows(ShardId shard, NodeTypeId type) const {
    const std::vector<int64_t>& begins = types_[type.value].begins;
    return begins[shard.value + 1] - begins[shard.value];
  }
  // Of the shard's rows [begin, end) those that are left; the first of them, if there is one, comes
  // to `first` among the shard's new rows.
  struct Rows {
    std::vector<uint64_t> rows;
    int64_t first = 0;
  };
  Rows RowsIn(ShardId shard, NodeTypeId type, int64_t begin, int64_t end) const;

  // Which row of the new shard a row that is left becomes.
  int64_t NewRow(ShardId shard, NodeTypeId type, int64_t row) const {
    const OfType& of_type = types_[type.value];
    const int64_t first = of_type.begins[shard.value];
    return of_type.there.Rank(first + row) - of_type.there.Rank(first);
  }

  // Of all shards.
  int64_t num_kept(NodeTypeId type) const { return types_[type.value].there.count(); }
  // Whether the keys that are left are 0 to n - 1, in any order.
  bool has_dense_keys(NodeTypeId type) const {
    const OfType& of_type = types_[type.value];
    return of_type.end_of_keys <= static_cast<uint64_t>(of_type.there.count());
  }

 private:
  struct OfType {
    std::vector<int64_t> begins;  // of each shard its first row's place in `there`
    RankedBits there;
    uint64_t same_below = 0;   // ids below stay as they are
    uint64_t end_of_keys = 0;  // behind the largest
  };

  explicit KeptNodes(const FoldSource& source) : source_(&source) {}
  absl::Status FindIn(NodeTypeId type, Progress* progress);
  int64_t Look(const OfType& of_type, NodeTypeId type, uint64_t node) const;

  const FoldSource* source_;
  std::vector<OfType> types_;
};

}  // namespace vicinity

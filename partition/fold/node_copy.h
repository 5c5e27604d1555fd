// The nodes that are left, written to a new dataset.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "partition/dataset/book.h"
#include "partition/fold/fold_source.h"
#include "partition/fold/kept_nodes.h"
#include "partition/writing/dataset_writer.h"
#include "partition/writing/output_files.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"

namespace vicinity {

// What was written of the nodes, where whoever writes edges looks for it.
//
// Threads:  immutable; any number may read.
// Lifetime: the writer's, which outlives it.
class WrittenNodes {
 public:
  explicit WrittenNodes(const Book& book) : book_(book) {}

  uint64_t key(NodeTypeId type, int64_t node) const {
    const Book::Place place = book_.PlaceOf(type, GlobalNode{node});
    return arrays(place.shard, type).keys.as<uint64_t>()[place.row.value];
  }
  const char* row(NodeTypeId type, int column, int64_t node) const {
    const Book::Place place = book_.PlaceOf(type, GlobalNode{node});
    const OutputArray& rows = arrays(place.shard, type).columns[column];
    return rows.data + place.row.value * rows.row_bytes;
  }

 private:
  friend class NodeCopier;
  struct Arrays {
    OutputArray keys;
    std::vector<OutputArray> columns;
  };
  const Arrays& arrays(ShardId shard, NodeTypeId type) const {
    return by_shard_[shard.value][type.value];
  }

  const Book& book_;
  std::vector<std::vector<Arrays>> by_shard_;  // and type
};

// Writes keys, columns, names and ragged columns of all shards. Errors: of who reads and who
// writes.
//
// Threads: uses all cores.
absl::StatusOr<WrittenNodes> CopyNodes(const FoldSource& source, const KeptNodes& kept,
                                       DatasetWriter* writer, Progress* progress);

}  // namespace vicinity

// Which edges of a dataset with changes there still are, and which number each gets when it is
// written anew.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "partition/fold/fold_source.h"
#include "partition/fold/kept_nodes.h"
#include "partition/fold/list_batch.h"
#include "partition/fold/new_edge_ids.h"
#include "partition/fold/row_pieces.h"
#include "proto/common/ids.h"
#include "proto/common/parallel.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"

namespace vicinity {

// Those of one type between nodes that are left.
struct KeptEdges {
  NewEdgeIds ids;        // sealed
  int64_t of_files = 0;  // how many
  int64_t added = 0;     // of new ones
};

// Told of each list how many edges are left in it, by several threads at once. `row`: its target's.
using TakeListSize = std::function<void(ShardId shard, uint64_t row, int64_t num_edges)>;

// Reads the lists of all nodes that are left. `sizes` may be null. DataLoss naming type and shard:
// an edge id that cannot be; else what reading lists gives.
//
// Threads: uses all cores.
// Memory:  9 bits an edge id of the type; of each thread some 16 MiB, or the longest list.
absl::StatusOr<KeptEdges> FindKeptEdges(const FoldSource& source, const KeptNodes& kept,
                                        EdgeTypeId type, const TakeListSize& sizes,
                                        Progress* progress);

// Of a shard's `number`-th new edge of a type, its place among those of all shards (NewEdgeIds), as
// their ids are dealt.
inline int64_t PlaceOfNewEdge(const FoldSource& source, ShardId shard, int64_t number) {
  return number * source.num_shards() + shard.value;
}

// Calls work(shard, lists), which gives a status, with the lists of one type of all nodes that are
// left, on all cores. `what`: "counting", for `progress`.
template <typename Work>
absl::Status ForKeptLists(const FoldSource& source, const KeptNodes& kept, EdgeTypeId type,
                          const char* what, const Work& work, Progress* progress) {
  const NodeTypeId target_type{source.schema().edge_types[type.value].target_type};
  std::vector<RowPiece> pieces;
  int64_t num_rows = 0;
  for (int32_t s = 0; s < source.num_shards(); ++s) {
    AddPieces({s}, type.value, kept.num_rows({s}, target_type), &pieces);
    num_rows += kept.num_rows({s}, target_type);
  }
  progress->Begin(absl::StrCat(what, " edges ", source.schema().EdgeTypeName(type.value)), num_rows,
                  "nodes");
  VICINITY_RETURN_IF_ERROR(ForEachInParallel(
      static_cast<int64_t>(pieces.size()), progress, [&](int64_t i) -> absl::StatusOr<int64_t> {
        const RowPiece& piece = pieces[i];
        const KeptNodes::Rows rows = kept.RowsIn(piece.shard, target_type, piece.begin, piece.end);
        ListBatches batches(source, piece.shard, type);
        VICINITY_RETURN_IF_ERROR(batches.Read(
            rows.rows, [&](const ListBatch& batch) { return work(piece.shard, batch); }));
        return piece.end - piece.begin;
      }));
  progress->End();
  return absl::OkStatus();
}

}  // namespace vicinity

#include "partition/fold/kept_nodes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "partition/fold/row_pieces.h"
#include "partition/overlay/live_view.h"
#include "proto/common/mutex.h"
#include "proto/common/parallel.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// Of some rows of a shard those whose key leads elsewhere, and what is behind the largest of the
// other keys.
struct Looked {
  std::vector<int64_t> gone;
  uint64_t end_of_keys = 0;
};

bool IsThere(const FoldSource& source, const RowPiece& piece, int64_t row, uint64_t key) {
  const NodeTypeId type{piece.type};
  const LiveView& lists = source.view(source.book().DirectoryShard(key));
  const std::optional<int64_t> node = lists.Node(piece.type, key);
  if (!node.has_value()) return row < source.book().num_nodes(type, piece.shard);
  return *node == source.book().NodeAt(type, {piece.shard, {row}}).value;
}

absl::StatusOr<Looked> LookAt(const FoldSource& source, const RowPiece& piece) {
  const ShardReader& reader = source.reader(piece.shard);
  std::vector<uint64_t> keys(piece.end - piece.begin);
  VICINITY_RETURN_IF_ERROR(reader.ReadRange(
      reader.KeysColumn({piece.type}), piece.begin, piece.end - piece.begin, [&](const char* rows) {
        if (!keys.empty()) std::memcpy(keys.data(), rows, keys.size() * sizeof(uint64_t));
      }));
  Looked looked;
  for (size_t i = 0; i < keys.size(); ++i) {
    const int64_t row = piece.begin + static_cast<int64_t>(i);
    if (!IsThere(source, piece, row, keys[i])) {
      looked.gone.push_back(row);
    } else if (keys[i] == std::numeric_limits<uint64_t>::max()) {
      looked.end_of_keys = keys[i];  // so there are other keys that are none
    } else {
      looked.end_of_keys = std::max(looked.end_of_keys, keys[i] + 1);
    }
  }
  return looked;
}

}  // namespace

absl::StatusOr<KeptNodes> KeptNodes::Find(const FoldSource& source, Progress* progress) {
  KeptNodes kept(source);
  for (int32_t t = 0; t < source.book().num_node_types(); ++t) {
    VICINITY_RETURN_IF_ERROR(kept.FindIn({t}, progress));
  }
  return kept;
}

absl::Status KeptNodes::FindIn(NodeTypeId type, Progress* progress) {
  OfType& of_type = types_.emplace_back();
  of_type.begins = {0};
  std::vector<RowPiece> pieces;
  for (int32_t s = 0; s < source_->num_shards(); ++s) {
    const int64_t num_rows = source_->reader({s}).num_nodes(type);
    of_type.begins.push_back(of_type.begins.back() + num_rows);
    AddPieces({s}, type.value, num_rows, &pieces);
  }
  of_type.there = RankedBits(of_type.begins.back(), true);
  bool any_gone = false;
  Mutex mu;
  progress->Begin("looking for nodes", of_type.begins.back(), "nodes");
  VICINITY_RETURN_IF_ERROR(ForEachInParallel(
      static_cast<int64_t>(pieces.size()), progress, [&](int64_t i) -> absl::StatusOr<int64_t> {
        VICINITY_ASSIGN_OR_RETURN(const Looked looked, LookAt(*source_, pieces[i]));
        const int64_t first = of_type.begins[pieces[i].shard.value];
        const MutexLock lock(&mu);
        for (const int64_t row : looked.gone) of_type.there.Clear(first + row);
        any_gone = any_gone || !looked.gone.empty();
        of_type.end_of_keys = std::max(of_type.end_of_keys, looked.end_of_keys);
        return pieces[i].end - pieces[i].begin;
      }));
  progress->End();
  of_type.there.Seal();
  const int64_t in_files = source_->book().num_nodes(type);
  const bool same = !any_gone && of_type.begins.back() == in_files;
  of_type.same_below = same ? static_cast<uint64_t>(in_files) : 0;
  return absl::OkStatus();
}

absl::StatusOr<Book> KeptNodes::NewBook() const {
  std::vector<std::vector<int64_t>> begins;
  for (const OfType& of_type : types_) {
    std::vector<int64_t>& of_shards = begins.emplace_back();
    for (const int64_t begin : of_type.begins) of_shards.push_back(of_type.there.Rank(begin));
  }
  return Book::Create(std::move(begins));
}

int64_t KeptNodes::Look(const OfType& of_type, NodeTypeId type, uint64_t node) const {
  if (node >= static_cast<uint64_t>(kMaxNodes)) return -1;
  const Book::Place place = source_->book().PlaceOf(type, GlobalNode{static_cast<int64_t>(node)});
  if (place.row.value >= num_rows(place.shard, type)) return -1;
  const int64_t at = of_type.begins[place.shard.value] + place.row.value;
  return of_type.there.Has(at) ? of_type.there.Rank(at) : -1;
}

KeptNodes::Rows KeptNodes::RowsIn(ShardId shard, NodeTypeId type, int64_t begin,
                                  int64_t end) const {
  const OfType& of_type = types_[type.value];
  const int64_t first = of_type.begins[shard.value];
  Rows kept;
  kept.first = of_type.there.Rank(first + begin) - of_type.there.Rank(first);
  for (int64_t row = begin; row < end; ++row) {
    if (of_type.there.Has(first + row)) kept.rows.push_back(static_cast<uint64_t>(row));
  }
  return kept;
}

}  // namespace vicinity

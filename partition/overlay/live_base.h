// What lies beneath the changes of a shard: the files that they are changes of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "partition/dataset/book.h"
#include "partition/dataset/shard.h"
#include "partition/overlay/grown_ids.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// What names a shard and the files beneath it.
inline std::string IdentityOfShard(int32_t shard, int32_t num_shards, uint64_t fingerprint) {
  return absl::StrCat("shard ", shard, " of ", num_shards, " of dataset ",
                      absl::Hex(fingerprint, absl::kZeroPad16));
}

// Lifetime: what it refers to outlives everything that is made with it.
struct LiveBase {
  // Edges of the files have ids of which no shard knows the largest: an import that leaves edges
  // out leaves gaps. They are positions in somebody's input, and below this.
  static constexpr int64_t kFirstNewEdge = int64_t{1} << 48;

  const Schema& schema;
  const Book& book;
  const Shard& shard;
  uint64_t fingerprint;  // of the dataset

  GrownIds NodeIds(int32_t type) const { return {book.num_nodes({type}), book.num_shards()}; }
  GrownIds EdgeIds(int32_t /*type*/) const { return {kFirstNewEdge, book.num_shards()}; }
  int64_t NodesInFiles(int32_t type) const { return shard.nodes({type}).num_nodes(); }
  int64_t EdgesInFiles(int32_t type) const { return shard.edges({type}).num_edges(); }
  // Of a node of this shard its row, of any other -1. New nodes' rows come after those in the
  // files; whether there is one with this id yet, nobody says here.
  int64_t RowOf(int32_t type, uint64_t node) const {
    const auto id = static_cast<int64_t>(node);
    if (id < 0) return -1;
    const std::optional<LocalRow> row = book.RowIn({type}, shard.id(), {id});
    return row.has_value() ? row->value : -1;
  }
  std::string Identity() const {
    return IdentityOfShard(shard.id().value, book.num_shards(), fingerprint);
  }
};

}  // namespace vicinity

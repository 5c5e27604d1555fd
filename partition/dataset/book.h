// Who owns which node: the shard boundaries of every node type.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/common/ids.h"
#include "proto/schema.pb.h"

namespace vicinity {

inline constexpr int32_t kMaxShards = 65536;
inline constexpr int64_t kMaxNodes = int64_t{1} << 56;  // of one type

// Ids beyond those in the files are of nodes that are new in a live graph: of the N nodes of a type
// on K shards, the i-th new one of shard s is N + i x K + s, and its row the i-th behind those that
// the shard's files have. So who owns an id is arithmetic, however many there are, which the book
// does not know.
//
// Threads: immutable; any number may read.
// Cost:    O(shards x types) numbers; PlaceOf is a binary search over the shards.
class Book {
 public:
  // begins[t] has num_shards + 1 rising numbers (equal ones make an empty shard), the first 0;
  // 1 to kMaxShards shards, up to kMaxNodes nodes. InvalidArgument otherwise.
  static absl::StatusOr<Book> Create(std::vector<std::vector<int64_t>> begins);
  static absl::StatusOr<Book> FromProto(const proto::Book& stored);
  proto::Book ToProto() const;
  // The same of a live graph.
  Book Growing() const;

  int32_t num_shards() const { return num_shards_; }
  int32_t num_node_types() const { return static_cast<int32_t>(begins_.size()); }
  bool grows() const { return grows_; }
  // In the files.
  int64_t num_nodes(NodeTypeId type) const { return begins_[type.value].back(); }
  int64_t num_nodes(NodeTypeId type, ShardId shard) const {
    return begins_[type.value][shard.value + 1] - begins_[type.value][shard.value];
  }
  // All ids are below it: num_nodes, or, where there may be new nodes, far more.
  int64_t id_limit(NodeTypeId type) const { return num_nodes(type) + (grows_ ? kMaxNewNodes : 0); }
  bool Contains(NodeTypeId type, GlobalNode node) const {
    return node.value >= 0 && node.value < id_limit(type);
  }
  // The shard's first node in the files.
  GlobalNode First(NodeTypeId type, ShardId shard) const {
    return {begins_[type.value][shard.value]};
  }

  // Of a node that is not Contained some shard, and a row that the shard does not have, so whoever
  // takes nodes from outside checks the row.
  struct Place {
    ShardId shard;
    LocalRow row;
  };
  Place PlaceOf(NodeTypeId type, GlobalNode node) const;
  ShardId OwnerOf(NodeTypeId type, GlobalNode node) const { return PlaceOf(type, node).shard; }
  LocalRow RowOf(NodeTypeId type, GlobalNode node) const { return PlaceOf(type, node).row; }
  // Its row, if it is of this shard: quicker, but for new nodes.
  std::optional<LocalRow> RowIn(NodeTypeId type, ShardId shard, GlobalNode node) const {
    const int64_t row = node.value - First(type, shard).value;
    if (row >= 0 && row < num_nodes(type, shard)) return LocalRow{row};
    if (node.value < num_nodes(type)) return std::nullopt;
    const Place place = PlaceOf(type, node);
    return place.shard == shard ? std::optional<LocalRow>(place.row) : std::nullopt;
  }
  // Which node has this row of a shard.
  GlobalNode NodeAt(NodeTypeId type, const Place& place) const;

  // num_shards + 1 boundaries of one type.
  absl::Span<const int64_t> begins(NodeTypeId type) const { return begins_[type.value]; }

  // The shard whose directory lists `key`, for any type and any cut into num_shards.
  ShardId DirectoryShard(uint64_t key) const;

 private:
  // New ones of one type, over all shards: far more than any machines' memory has room for.
  static constexpr int64_t kMaxNewNodes = int64_t{1} << 40;

  explicit Book(std::vector<std::vector<int64_t>> begins);
  std::vector<std::vector<int64_t>> begins_;
  int32_t num_shards_;
  bool grows_ = false;
};

}  // namespace vicinity

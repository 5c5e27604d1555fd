// Who owns which node: the shard boundaries of every node type.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/common/ids.h"
#include "proto/schema.pb.h"

namespace vicinity {

inline constexpr int32_t kMaxShards = 65536;
inline constexpr int64_t kMaxNodes = int64_t{1} << 56;  // of one type

// Threads: immutable; any number may read.
// Cost:    O(shards x types) numbers; OwnerOf is a binary search over the shards.
class Book {
 public:
  // begins[t] has num_shards + 1 rising numbers (equal ones make an empty shard), the first 0;
  // 1 to kMaxShards shards, up to kMaxNodes nodes. InvalidArgument otherwise.
  static absl::StatusOr<Book> Create(std::vector<std::vector<int64_t>> begins);
  static absl::StatusOr<Book> FromProto(const proto::Book& stored);
  proto::Book ToProto() const;

  int32_t num_shards() const { return num_shards_; }
  int32_t num_node_types() const { return static_cast<int32_t>(begins_.size()); }
  int64_t num_nodes(NodeTypeId type) const { return begins_[type.value].back(); }
  int64_t num_nodes(NodeTypeId type, ShardId shard) const;
  GlobalNode First(NodeTypeId type, ShardId shard) const;
  bool Contains(NodeTypeId type, GlobalNode node) const;

  // `node` must be Contained; any other number gets the first or last shard and a row outside
  // it, so whoever takes nodes from outside checks the row.
  ShardId OwnerOf(NodeTypeId type, GlobalNode node) const;
  LocalRow RowOf(NodeTypeId type, GlobalNode node) const;

  // num_shards + 1 boundaries of one type.
  absl::Span<const int64_t> begins(NodeTypeId type) const { return begins_[type.value]; }

  // The shard whose directory lists `key`, for any type and any cut into num_shards.
  ShardId DirectoryShard(uint64_t key) const;

 private:
  explicit Book(std::vector<std::vector<int64_t>> begins);
  std::vector<std::vector<int64_t>> begins_;
  int32_t num_shards_;
};

}  // namespace vicinity

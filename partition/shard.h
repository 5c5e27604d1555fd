// One shard of a dataset, mapped: its nodes' keys and rows, and all their in-edges.
//
// The file layout is the serving layout (docs/formats.md): opening maps files and parses
// nothing, whatever their size.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "partition/schema.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"

namespace vicinity {

// Rows of one column; row i is bytes [i * row_bytes, (i + 1) * row_bytes).
struct ColumnView {
  const char* data = nullptr;  // 64-byte aligned
  int64_t num_rows = 0;
  int64_t row_bytes = 0;

  std::string_view row(int64_t i) const {
    return {data + i * row_bytes, static_cast<size_t>(row_bytes)};
  }
};

// Node ids as stored: 32-bit where the type has fewer than 2^32 nodes, else 64-bit.
class IdArray {
 public:
  IdArray() = default;
  explicit IdArray(absl::Span<const uint32_t> ids) : narrow_(ids.data()), size_(ids.size()) {}
  explicit IdArray(absl::Span<const uint64_t> ids) : wide_(ids.data()), size_(ids.size()) {}
  int64_t size() const { return size_; }
  int64_t operator[](int64_t i) const {
    return narrow_ != nullptr ? int64_t{narrow_[i]} : static_cast<int64_t>(wide_[i]);
  }
  const uint32_t* narrow() const { return narrow_; }  // null if the ids are wide
  const uint64_t* wide() const { return wide_; }

 private:
  const uint32_t* narrow_ = nullptr;
  const uint64_t* wide_ = nullptr;
  int64_t size_ = 0;
};

// The nodes of one type that the shard owns, by local row.
struct NodeTable {
  absl::Span<const uint64_t> keys;
  absl::Span<const uint64_t> name_offsets;  // STRING ids only: num_nodes + 1, into name_bytes
  const char* name_bytes = nullptr;
  std::vector<ColumnView> columns;  // in the schema's order
  // The part of the directory that this shard holds: keys in rising order, and their global ids.
  absl::Span<const uint64_t> directory_keys;
  IdArray directory_nodes;

  int64_t num_nodes() const { return static_cast<int64_t>(keys.size()); }
  std::string_view name(int64_t row) const {
    return {name_bytes + name_offsets[row],
            static_cast<size_t>(name_offsets[row + 1] - name_offsets[row])};
  }
};

// The in-edges of one type: those of the target at local row v are positions
// [offsets[v], offsets[v + 1]), sorted by (source key, edge id), whatever the cut.
struct EdgeTable {
  absl::Span<const uint64_t> offsets;  // num targets + 1
  IdArray sources;                     // global ids
  IdArray edge_ids;                    // the edge's position in the user's input
  std::vector<ColumnView> columns;     // by position

  int64_t degree(int64_t row) const { return static_cast<int64_t>(offsets[row + 1] - offsets[row]); }
};

// Threads:  immutable; any number may read.
// Lifetime: views live as long as the shard.
class Shard {
 public:
  Shard(ShardId id, std::vector<std::unique_ptr<MappedFile>> files, std::vector<NodeTable> nodes,
        std::vector<EdgeTable> edges);

  ShardId id() const { return id_; }
  const NodeTable& nodes(NodeTypeId type) const { return nodes_[type.value]; }
  const EdgeTable& edges(EdgeTypeId type) const { return edges_[type.value]; }
  int64_t mapped_bytes() const { return mapped_bytes_; }
  const std::vector<std::unique_ptr<MappedFile>>& files() const { return files_; }

 private:
  const ShardId id_;
  const std::vector<std::unique_ptr<MappedFile>> files_;
  const std::vector<NodeTable> nodes_;
  const std::vector<EdgeTable> edges_;
  int64_t mapped_bytes_ = 0;
};

}  // namespace vicinity

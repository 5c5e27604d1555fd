// What passes over whole graphs see of a shard: its nodes and lists as the files have them, to be
// read inside ReadWhole (partition/dataset/whole_read.h), which verifies them. Nothing here knows
// of files, pages or what has changed since they were written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"

namespace vicinity {

// Values of one column behind each other.
struct BaseValues {
  const char* data = nullptr;
  int64_t row_bytes = 0;

  const char* row(int64_t i) const { return data + i * row_bytes; }
};

// The in-edges of one type by target: those of row v are positions [begin(v), begin(v) +
// degree(v)), which always exist. Sources are values as found: who uses one as an index checks it
// first, or relies on `vicinity verify`.
//
// Threads: immutable. Lifetime: the shard must outlive it.
class BaseLists {
 public:
  BaseLists(const Shard& shard, EdgeTypeId type) : BaseLists(shard.edges(type)) {}
  explicit BaseLists(const EdgeTable& edges) : edges_(&edges) {}

  int64_t num_targets() const { return edges_->num_targets(); }
  int64_t num_edges() const { return edges_->num_edges(); }
  int64_t begin(int64_t row) const { return edges_->begin(row); }
  int64_t degree(int64_t row) const { return edges_->degree(row); }
  int64_t source(int64_t position) const { return edges_->sources[position]; }
  int64_t edge_id(int64_t position) const { return edges_->edge_ids[position]; }
  BaseValues column(int32_t column) const {
    return {edges_->columns[column].data, edges_->columns[column].row_bytes};
  }

  // The target whose list has a position; offsets must rise.
  int64_t TargetOf(int64_t position) const {
    return std::upper_bound(edges_->offsets.begin(), edges_->offsets.end(),
                            static_cast<uint64_t>(position)) -
           edges_->offsets.begin() - 1;
  }
  // num_targets + 1 of them, as found; none where there are no targets.
  absl::Span<const uint64_t> offsets() const { return edges_->offsets; }
  // Calls visit(span) with all sources, as uint32_t or uint64_t, and gives what it gives.
  template <typename Visit>
  auto VisitSources(const Visit& visit) const {
    const auto size = static_cast<size_t>(edges_->sources.size());
    return edges_->sources.narrow() != nullptr
               ? visit(absl::MakeConstSpan(edges_->sources.narrow(), size))
               : visit(absl::MakeConstSpan(edges_->sources.wide(), size));
  }
  // Edge ids take 32 bits each in the file.
  bool has_narrow_edge_ids() const { return edges_->edge_ids.wide() == nullptr; }

 private:
  const EdgeTable* edges_;
};

// The nodes of one type by row.
//
// Threads: immutable. Lifetime: the shard must outlive it.
class BaseNodes {
 public:
  BaseNodes(const Shard& shard, NodeTypeId type) : nodes_(&shard.nodes(type)) {}

  int64_t num_nodes() const { return nodes_->num_nodes(); }
  uint64_t key(int64_t row) const { return nodes_->keys[row]; }
  // Of a ragged column, or the node's name (kNamesColumn).
  std::string_view ragged(int32_t column, int64_t row) const {
    return nodes_->ragged_column(column).row(row);
  }
  BaseValues column(int32_t column) const {
    return {nodes_->columns[column].data, nodes_->columns[column].row_bytes};
  }

 private:
  const NodeTable* nodes_;
};

}  // namespace vicinity

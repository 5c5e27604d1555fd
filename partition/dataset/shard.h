// One shard of a dataset, mapped: its nodes' keys and rows, and all their in-edges.
//
// The file layout is the serving layout (docs/formats.md): opening maps files and parses
// nothing, whatever their size. So a page that nobody has verified yet may hold anything: who
// serves or samples reads by partition/dataset/shard_reader.h, which sees to that. Passes over
// whole files read the tables as they are, inside ReadWhole (partition/dataset/whole_read.h). For a
// row or position within the table's sizes:
// - RaggedView::row and EdgeTable::begin and degree never lead outside the mapped files: an
//   impossible pair of offsets reads as an empty row or list. `offsets` itself is as found.
// - Weights may say anything; AliasEntry::other is to be compared with the degree before use.
// - Sources, edge ids, directory nodes and keys are values as found: check a source against
//   the book (Book::Contains) before it is used as a position.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/fault_list.h"
#include "partition/dataset/verified_file.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// Rows of one column; row i is bytes [i * row_bytes, (i + 1) * row_bytes).
struct ColumnView {
  const char* data = nullptr;  // 64-byte aligned
  int64_t num_rows = 0;
  int64_t row_bytes = 0;
  VerifiedFile* file = nullptr;        // where the rows are; null: in memory
  VerifiedFile* index_file = nullptr;  // ColumnIndex of the values; null: there is none

  std::string_view row(int64_t i) const {
    return {data + i * row_bytes, static_cast<size_t>(row_bytes)};
  }
};

// Rows of any number of bytes: those of row i are bytes [offsets[i], offsets[i + 1]).
struct RaggedView {
  absl::Span<const uint64_t> offsets;  // number of rows + 1, into `bytes`; empty: no rows
  std::string_view bytes;
  VerifiedFile* offsets_file = nullptr;
  VerifiedFile* bytes_file = nullptr;

  // Empty where the offsets are impossible, and where there are no rows.
  std::string_view row(int64_t i) const {
    if (offsets.empty()) return {};
    const uint64_t begin = offsets[i];
    const uint64_t end = offsets[i + 1];
    if (begin > end || end > bytes.size()) return {};
    return bytes.substr(begin, end - begin);
  }
  // DataLoss with both offsets if they are impossible.
  absl::Status CheckRow(int64_t i) const;
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

// The nodes of one type that the shard owns, by local row. A file that is null is none.
struct NodeTable {
  absl::Span<const uint64_t> keys;
  RaggedView names;                 // STRING ids only
  std::vector<ColumnView> columns;  // in the schema's order
  std::vector<RaggedView> ragged;   // likewise
  // The part of the directory that this shard holds: keys in rising order, and their global ids.
  absl::Span<const uint64_t> directory_keys;
  IdArray directory_nodes;

  VerifiedFile* keys_file = nullptr;
  VerifiedFile* directory_keys_file = nullptr;
  VerifiedFile* directory_nodes_file = nullptr;

  int64_t num_nodes() const { return static_cast<int64_t>(keys.size()); }
  // Of a ragged column, or kNamesColumn.
  const RaggedView& ragged_column(int32_t column) const {
    return column == kNamesColumn ? names : ragged[column];
  }
};

// The in-edges of one type: those of the target at local row v are positions
// [begin(v), begin(v) + degree(v)), sorted by (source key, edge id), or
// (time, source key, edge id) (EdgeTypeSpec::time_order), whatever the cut.
struct EdgeTable {
  absl::Span<const uint64_t> offsets;  // num targets + 1
  IdArray sources;                     // global ids
  IdArray edge_ids;                    // the edge's position in the user's input
  std::vector<ColumnView> columns;     // by position
  // Of the weight column, by position, an alias table for each list; empty: the type has none.
  absl::Span<const AliasEntry> weights;

  VerifiedFile* offsets_file = nullptr;
  VerifiedFile* sources_file = nullptr;
  VerifiedFile* edge_ids_file = nullptr;
  VerifiedFile* weights_file = nullptr;

  int64_t num_targets() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t num_edges() const { return sources.size(); }

  // Whether the offsets are possible: in order, and inside the table.
  bool has_list(int64_t row) const {
    return offsets[row] <= offsets[row + 1] &&
           offsets[row + 1] <= static_cast<uint64_t>(sources.size());
  }
  // DataLoss with both offsets if not.
  absl::Status CheckList(int64_t row) const;
  // Positions [begin, begin + degree) always exist; degree 0 where the offsets are impossible.
  int64_t begin(int64_t row) const { return static_cast<int64_t>(offsets[row]); }
  int64_t degree(int64_t row) const {
    return has_list(row) ? static_cast<int64_t>(offsets[row + 1] - offsets[row]) : 0;
  }
};

// Threads:  immutable; any number may read.
// Lifetime: views live as long as the shard.
class Shard {
 public:
  // `faults` is the files'.
  Shard(ShardId id, std::unique_ptr<FaultList> faults,
        std::vector<std::unique_ptr<VerifiedFile>> files, std::vector<NodeTable> nodes,
        std::vector<EdgeTable> edges);

  ShardId id() const { return id_; }
  const NodeTable& nodes(NodeTypeId type) const { return nodes_[type.value]; }
  const EdgeTable& edges(EdgeTypeId type) const { return edges_[type.value]; }
  int64_t mapped_bytes() const { return mapped_bytes_; }
  const std::vector<std::unique_ptr<VerifiedFile>>& files() const { return files_; }
  // What has been found wrong with them so far, by whoever read them.
  const FaultList& faults() const { return *faults_; }

 private:
  const ShardId id_;
  const std::unique_ptr<FaultList> faults_;  // outlives the files
  const std::vector<std::unique_ptr<VerifiedFile>> files_;
  const std::vector<NodeTable> nodes_;
  const std::vector<EdgeTable> edges_;
  int64_t mapped_bytes_ = 0;
};

}  // namespace vicinity

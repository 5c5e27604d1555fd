// What serves and samples reads a shard by this: rows, names, keys and lists, each page verified
// when it is first touched, and nothing handed on before it is known that no file has changed
// meanwhile (partition/dataset/verified_file.h).
//
// Every method takes `start` or an empty output and may do its work several times, when a file
// changes under it: `start` is called before each time. Callers thus hold a complete answer or an
// error, never a mixture.
//
// It stands between the stored form and everybody above, so that rows and lists which have changed
// since the files were written can come from elsewhere one day, and nobody else need know.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/verified_file.h"
#include "proto/common/ids.h"
#include "proto/common/row_prefetch.h"
#include "proto/common/status.h"

namespace vicinity {

// A type's keys, as a column of uint64.
ColumnView KeysColumn(const NodeTable& nodes);

// Threads:  immutable; any number may read.
// Lifetime: the shard must outlive it.
// Errors:   DataLoss naming file, page and both checksums; Unavailable if a file keeps changing.
//           Rows and positions must be in the shard: callers check them.
class ShardReader {
 public:
  explicit ShardReader(const Shard& shard) : shard_(shard) {}
  const Shard& shard() const { return shard_; }

  // Calls copy(i, row) for every one of `rows`, a column's; memory is asked for ahead of it.
  template <typename Start, typename Copy>
  absl::Status ReadRows(const ColumnView& column, absl::Span<const uint64_t> rows,
                        const Start& start, const Copy& copy) const {
    VerifiedFile* const files[] = {column.file};
    return ReadVerified(files, [&]() -> absl::Status {
      start();
      VICINITY_RETURN_IF_ERROR(TouchRows(column, rows));
      const auto ahead = static_cast<size_t>(PrefetchDistance(column.row_bytes));
      for (size_t i = 0; i < std::min(ahead, rows.size()); ++i) {
        PrefetchRow(column.data + rows[i] * column.row_bytes, column.row_bytes);
      }
      for (size_t i = 0; i < rows.size(); ++i) {
        if (i + ahead < rows.size()) {
          PrefetchRow(column.data + rows[i + ahead] * column.row_bytes, column.row_bytes);
        }
        copy(i, column.data + rows[i] * column.row_bytes);
      }
      return absl::OkStatus();
    });
  }

  // Calls copy(rows) once, with rows [first, first + count) of a column behind each other.
  template <typename Copy>
  absl::Status ReadRange(const ColumnView& column, int64_t first, int64_t count,
                         const Copy& copy) const {
    VerifiedFile* const files[] = {column.file};
    return ReadVerified(files, [&]() -> absl::Status {
      VICINITY_RETURN_IF_ERROR(TouchRange(column, first, count));
      copy(column.data + first * column.row_bytes);
      return absl::OkStatus();
    });
  }

  // Calls take(i, name) for every one of `rows` until it returns false.
  template <typename Start, typename Take>
  absl::Status ReadNames(NodeTypeId type, absl::Span<const uint64_t> rows, const Start& start,
                         const Take& take) const {
    const NodeTable& nodes = shard_.nodes(type);
    VerifiedFile* const files[] = {nodes.name_offsets_file, nodes.name_bytes_file};
    return ReadVerified(files, [&]() -> absl::Status {
      start();
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto row = static_cast<int64_t>(rows[i]);
        VICINITY_RETURN_IF_ERROR(TouchName(nodes, row));
        if (!take(i, nodes.name(row))) break;
      }
      return absl::OkStatus();
    });
  }

  // Of each key its global id, -1 where no node has it. `out` has room for all.
  absl::Status FindKeys(NodeTypeId type, absl::Span<const uint64_t> keys, int64_t* out) const;

  // Of each target (local rows of the edge type's target type) how many in-edges of the type it
  // has. `out` has room for all.
  absl::Status ReadDegrees(EdgeTypeId type, NodeTypeId target_type, absl::Span<const uint64_t> rows,
                           int64_t* out) const;

  // Calls `read` with the offsets and keys of these targets verified; it may use all of the edge
  // type's arrays, but verifies the pages of the others itself (SampleOneHop, TouchList).
  template <typename Read>
  absl::Status ReadLists(EdgeTypeId type, NodeTypeId target_type, absl::Span<const uint64_t> rows,
                         const Read& read) const {
    const EdgeTable& edges = shard_.edges(type);
    const NodeTable& targets = shard_.nodes(target_type);
    VerifiedFile* const files[] = {edges.offsets_file, targets.keys_file, edges.sources_file,
                                   edges.edge_ids_file, edges.weights_file};
    return ReadVerified(files, [&]() -> absl::Status {
      VICINITY_RETURN_IF_ERROR(TouchTargets(edges, targets, rows));
      return read();
    });
  }

  // Positions [begin, end) of sources, edge ids and weights.
  static absl::Status TouchList(const EdgeTable& edges, int64_t begin, int64_t end);
  // For who reads lists by itself, inside ReadLists.
  static absl::Status TouchTargets(const EdgeTable& edges, const NodeTable& targets,
                                   absl::Span<const uint64_t> rows);
  static absl::Status TouchRows(const ColumnView& column, absl::Span<const uint64_t> rows);
  static absl::Status TouchRange(const ColumnView& column, int64_t first, int64_t count);

 private:
  static absl::Status TouchName(const NodeTable& nodes, int64_t row);

  const Shard& shard_;
};

}  // namespace vicinity

// What serves and samples reads a shard by this: rows, names, keys and lists, each page verified
// when it is first touched, and nothing handed on before it is known that no file has changed
// meanwhile (partition/dataset/verified_file.h).
//
// Every method takes `start` or an empty output and may do its work several times, when a file
// changes under it: `start` is called before each time. Callers thus hold a complete answer or an
// error, never a mixture.
//
// It stands between the stored form and everybody above: rows, names, keys and lists that have
// changed since the files were written come from an overlay (partition/dataset/shard_overlay.h), if
// the reader has one, and nobody else need know.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_overlay.h"
#include "partition/dataset/verified_file.h"
#include "proto/common/ids.h"
#include "proto/common/row_prefetch.h"
#include "proto/common/status.h"

namespace vicinity {

// One column of a shard, to be read by the ShardReader that gave it.
class ShardColumn {
 public:
  ShardColumn() = default;  // without rows
  int64_t num_rows() const { return num_rows_; }
  int64_t row_bytes() const { return base_.row_bytes; }

 private:
  friend class ShardReader;
  ShardColumn(const ShardPart& part, const ColumnView& base) : part_(part), base_(base) {}

  ShardPart part_;
  ColumnView base_;
  int64_t num_rows_ = 0;  // with those that are not in the files
};

// Changed lists one behind the other, in arrays like a shard's, so that whoever reads and samples
// those can do the same with these.
class ChangedLists {
 public:
  // At least one must have been added, all of one edge type.
  void Add(const ChangedList& list) {
    sources_.insert(sources_.end(), list.sources.begin(), list.sources.end());
    edge_ids_.insert(edge_ids_.end(), list.edge_ids.begin(), list.edge_ids.end());
    positions_.insert(positions_.end(), list.positions.begin(), list.positions.end());
    weights_.insert(weights_.end(), list.weights.begin(), list.weights.end());
    offsets_.push_back(sources_.size());
  }
  // Row i is the i-th list that was added. Views: they live until the next Add.
  EdgeTable table() const {
    EdgeTable table;
    table.offsets = offsets_;
    table.sources = IdArray(absl::MakeConstSpan(sources_));
    table.edge_ids = IdArray(absl::MakeConstSpan(edge_ids_));
    table.weights = weights_;
    return table;
  }
  // Of the table's edges, where their rows are.
  absl::Span<const int64_t> positions() const { return positions_; }

 private:
  std::vector<uint64_t> offsets_ = {0};
  std::vector<uint64_t> sources_;
  std::vector<uint64_t> edge_ids_;
  std::vector<int64_t> positions_;
  std::vector<AliasEntry> weights_;
};

// Some of a target's in-edges, for who copies them.
class ListPart {
 public:
  // `positions`: of the edges' rows; null: they are where they lie.
  ListPart(const EdgeTable& edges, const int64_t* positions, int64_t begin, int64_t size,
           bool has_more)
      : edges_(edges), positions_(positions), begin_(begin), size_(size), has_more_(has_more) {}

  int64_t size() const { return size_; }
  bool has_more() const { return has_more_; }  // the list goes on behind it
  int64_t source(int64_t i) const { return edges_.sources[begin_ + i]; }
  int64_t edge_id(int64_t i) const { return edges_.edge_ids[begin_ + i]; }
  // The first from `first` on that has this source, or size().
  int64_t Find(int64_t source, int64_t first) const;
  // Where the edge is in the columns of the edge type.
  int64_t position(int64_t i) const {
    return positions_ == nullptr ? begin_ + i : positions_[begin_ + i];
  }
  // Of an edge type with weights:
  bool has_weight(int64_t i) const { return edges_.weights[begin_ + i].has_weight(); }
  // ... of a part that is the whole list, weights as its table keeps them.
  void WeightUnits(std::vector<uint64_t>* units) const {
    AliasUnits(edges_.weights.subspan(begin_, size_), units);
  }

 private:
  const EdgeTable& edges_;
  const int64_t* const positions_;
  const int64_t begin_;
  const int64_t size_;
  const bool has_more_;
};

// Threads:  immutable; any number may read.
// Lifetime: the shard must outlive it, and so must an overlay that is not shared with it.
// Errors:   DataLoss naming file, page and both checksums, or a row whose offsets are impossible
//           though the checksums hold; Unavailable if a file keeps changing.
//           Rows and positions must be in the shard: callers check them.
class ShardReader {
 public:
  // `overlay`: null if all is as in the files.
  explicit ShardReader(const Shard& shard, const ShardOverlay* overlay = nullptr)
      : ShardReader(shard, std::shared_ptr<const ShardOverlay>(std::shared_ptr<void>(), overlay)) {}
  ShardReader(const Shard& shard, std::shared_ptr<const ShardOverlay> overlay)
      : shard_(shard), overlay_(std::move(overlay)) {}
  const Shard& shard() const { return shard_; }
  // Of the changes that it sees; 0: none.
  uint64_t version() const { return overlay_ == nullptr ? 0 : overlay_->version(); }
  uint64_t term() const { return overlay_ == nullptr ? 0 : overlay_->term(); }  // the version's

  // The column `column` of a type, or the nodes' keys as a column of uint64. They must exist.
  ShardColumn NodeColumn(NodeTypeId type, int32_t column) const;
  ShardColumn KeysColumn(NodeTypeId type) const;
  ShardColumn EdgeColumn(EdgeTypeId type, int32_t column) const;
  int64_t num_nodes(NodeTypeId type) const;
  int64_t num_edges(EdgeTypeId type) const;
  // Those that have a list in the files, even an empty one.
  int64_t num_targets(EdgeTypeId type) const { return shard_.edges(type).num_targets(); }

  // Calls copy(i, row) for every one of `rows`, a column's; memory is asked for ahead of it.
  template <typename Start, typename Copy>
  absl::Status ReadRows(const ShardColumn& column, absl::Span<const uint64_t> rows,
                        const Start& start, const Copy& copy) const {
    if (Changes(column.part_, rows)) return ReadChangedRows(column, rows, start, copy);
    const ColumnView& base = column.base_;
    VerifiedFile* const files[] = {base.file};
    return ReadVerified(files, [&]() -> absl::Status {
      start();
      VICINITY_RETURN_IF_ERROR(TouchRows(base, rows));
      const auto ahead = static_cast<size_t>(PrefetchDistance(base.row_bytes));
      for (size_t i = 0; i < std::min(ahead, rows.size()); ++i) {
        PrefetchRow(base.data + rows[i] * base.row_bytes, base.row_bytes);
      }
      for (size_t i = 0; i < rows.size(); ++i) {
        if (i + ahead < rows.size()) {
          PrefetchRow(base.data + rows[i + ahead] * base.row_bytes, base.row_bytes);
        }
        copy(i, base.data + rows[i] * base.row_bytes);
      }
      return absl::OkStatus();
    });
  }

  // Calls copy(rows) with rows [first, first + count) of a column behind each other.
  template <typename Copy>
  absl::Status ReadRange(const ShardColumn& column, int64_t first, int64_t count,
                         const Copy& copy) const {
    if (overlay_ != nullptr && overlay_->ChangesRange(column.part_, first, count)) {
      return ReadChangedRange(column, first, count, copy);
    }
    return ReadBaseRange(column, first, count, [&](const char* rows) {
      copy(rows);
      return absl::OkStatus();
    });
  }

  // For who keeps a column's address and reads rows there later: calls place(rows), where they lie
  // in memory as long as the shard does, with all of them verified. FailedPrecondition where some
  // are not in the files.
  template <typename Place>
  absl::Status PlaceRows(const ShardColumn& column, const Place& place) const {
    VICINITY_RETURN_IF_ERROR(CheckUnchanged(column));
    return ReadBaseRange(column, 0, column.num_rows(), place);
  }
  // ... and then, each time: calls read() with these rows verified. Rows outside the column are
  // left to `read` to refuse.
  template <typename Row, typename Read>
  absl::Status ReadPlaced(const ShardColumn& column, absl::Span<const Row> rows,
                          const Read& read) const {
    VerifiedFile* const files[] = {column.base_.file};
    return ReadVerified(files, [&]() -> absl::Status {
      for (const Row row : rows) {
        if (row < 0 || row >= column.num_rows()) continue;
        VICINITY_RETURN_IF_ERROR(TouchRange(column.base_, row, 1));
      }
      return read();
    });
  }

  // Calls take(i, row) for every one of `rows` until it returns false, with the bytes of its row in
  // a ragged column, or its name (kNamesColumn).
  template <typename Start, typename Take>
  absl::Status ReadRagged(NodeTypeId type, int32_t column, absl::Span<const uint64_t> rows,
                          const Start& start, const Take& take) const {
    const NodeTable& nodes = shard_.nodes(type);
    const RaggedView& base = nodes.ragged_column(column);
    const ShardPart part = {ShardPart::kRagged, type.value, column};
    const bool changed = Changes(part, rows);
    VerifiedFile* const files[] = {base.offsets_file, base.bytes_file};
    return ReadVerified(files, [&]() -> absl::Status {
      start();
      if (changed) {
        return TakeAll(
            part, rows, nodes.num_nodes(), [](uint64_t) {},
            [&](size_t i, const auto& bytes) {
              return TakeRagged(base, static_cast<int64_t>(rows[i]), bytes,
                                [&](std::string_view row) { return take(i, row); });
            });
      }
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto row = static_cast<int64_t>(rows[i]);
        VICINITY_RETURN_IF_ERROR(TouchRagged(base, row));
        if (!take(i, base.row(row))) break;
      }
      return absl::OkStatus();
    });
  }

  // Of each key its global id, -1 where no node has it. `out` has room for all.
  absl::Status FindKeys(NodeTypeId type, absl::Span<const uint64_t> keys, int64_t* out) const;

  // Calls take(i, degree) for every target of `rows` until it returns false.
  template <typename Start, typename Take>
  absl::Status ReadDegrees(EdgeTypeId type, absl::Span<const uint64_t> rows, const Start& start,
                           const Take& take) const {
    const EdgeTable& edges = shard_.edges(type);
    const bool changed = ChangesLists(type, rows);
    VerifiedFile* const files[] = {edges.offsets_file};
    return ReadVerified(files, [&]() -> absl::Status {
      start();
      for (size_t i = 0; i < rows.size(); ++i) {
        ChangedListPtr list;
        if (changed) {
          VICINITY_ASSIGN_OR_RETURN(list, overlay_->List(type.value, rows[i]));
        }
        auto degree = list == nullptr ? 0 : static_cast<int64_t>(list->sources.size());
        if (list == nullptr) {
          const auto row = static_cast<int64_t>(rows[i]);
          if (changed) VICINITY_RETURN_IF_ERROR(CheckInFiles(row, edges.num_targets()));
          VICINITY_RETURN_IF_ERROR(TouchOffsets(edges, row));
          degree = edges.degree(row);
        }
        if (!take(i, degree)) break;
      }
      return absl::OkStatus();
    });
  }

  // Of each pair of source (a global id) and target (a local row) the id of the first edge in the
  // target's list that joins them, -1 where none does. `out` has room for all.
  //
  // Cost: a pass over the list for every pair, or, for long lists, one for all pairs of the target.
  absl::Status FindEdges(EdgeTypeId type, absl::Span<const uint64_t> sources,
                         absl::Span<const uint64_t> rows, int64_t* out) const;

  // Calls copy(part) with the edges from the target's `first` on, `most` of them or as many as
  // there are.
  template <typename Copy>
  absl::Status ReadList(EdgeTypeId type, uint64_t row, int64_t first, int64_t most,
                        const Copy& copy) const {
    if (ChangesLists(type, {row})) {
      VICINITY_ASSIGN_OR_RETURN(const ChangedListPtr list, overlay_->List(type.value, row));
      if (list != nullptr) {
        ChangedLists lists;
        lists.Add(*list);
        const EdgeTable table = lists.table();
        copy(PartOf(table, lists.positions().data(), 0, first, most));
        return absl::OkStatus();
      }
    }
    const EdgeTable& edges = shard_.edges(type);
    VerifiedFile* const files[] = {edges.offsets_file, edges.sources_file, edges.edge_ids_file,
                                   edges.weights_file};
    return ReadVerified(files, [&]() -> absl::Status {
      VICINITY_RETURN_IF_ERROR(TouchOffsets(edges, static_cast<int64_t>(row)));
      const ListPart part = PartOf(edges, nullptr, static_cast<int64_t>(row), first, most);
      if (part.size() > 0) {
        VICINITY_RETURN_IF_ERROR(TouchList(edges, part.position(0), part.position(part.size())));
      }
      copy(part);
      return absl::OkStatus();
    });
  }

  // Of who goes through many lists, all of which are as in the files: calls take(i, key, list,
  // values) for every one of `rows`, with the whole list and where the values of its edges in each
  // of these columns lie, one behind the other; memory is asked for ahead of it.
  template <typename Start, typename Take>
  absl::Status ReadWholeLists(EdgeTypeId type, NodeTypeId target_type,
                              absl::Span<const int32_t> columns, absl::Span<const uint64_t> rows,
                              const Start& start, const Take& take) const {
    const EdgeTable& edges = shard_.edges(type);
    const NodeTable& targets = shard_.nodes(target_type);
    const std::vector<VerifiedFile*> files = ListFiles(edges, targets, columns);
    std::vector<const char*> values(columns.size());
    return ReadVerified(files, [&]() -> absl::Status {
      start();
      VICINITY_RETURN_IF_ERROR(TouchTargets(edges, targets, rows));
      for (size_t i = 0; i < rows.size(); ++i) {
        PrefetchTarget(edges, targets, rows, i + 2 * kListsAhead);
        PrefetchList(edges, columns, rows, i + kListsAhead);
        const auto row = static_cast<int64_t>(rows[i]);
        VICINITY_RETURN_IF_ERROR(edges.CheckList(row));
        const ListPart list = PartOf(edges, nullptr, row, 0, edges.degree(row));
        if (list.size() > 0) {
          VICINITY_RETURN_IF_ERROR(TouchPart(type, columns, list, 0, list.size()));
          PlaceValues(edges, columns, list.position(0), &values);
        }
        take(i, targets.keys[row], list, absl::MakeConstSpan(values));
      }
      return absl::OkStatus();
    });
  }

  // The same of lists in the order of columns[0], of one int64 an edge: calls take(i, key, list,
  // values), until it returns an error, with only those edges of each list whose value there is
  // from bounds(i).first to bounds(i).second, both included. What it reads of them it verifies
  // itself (TouchPart).
  //
  // Cost: a binary search, which verifies the pages that it looks at.
  template <typename Start, typename Bounds, typename Take>
  absl::Status ReadOrderedLists(EdgeTypeId type, NodeTypeId target_type,
                                absl::Span<const int32_t> columns, absl::Span<const uint64_t> rows,
                                const Start& start, const Bounds& bounds, const Take& take) const {
    const EdgeTable& edges = shard_.edges(type);
    const NodeTable& targets = shard_.nodes(target_type);
    const std::vector<VerifiedFile*> files = ListFiles(edges, targets, columns);
    std::vector<const char*> values(columns.size());
    return ReadVerified(files, [&]() -> absl::Status {
      start();
      VICINITY_RETURN_IF_ERROR(TouchTargets(edges, targets, rows));
      for (size_t i = 0; i < rows.size(); ++i) {
        PrefetchTarget(edges, targets, rows, i + 2 * kListsAhead);
        PrefetchList(edges, columns, rows, i + kListsAhead);
        const auto row = static_cast<int64_t>(rows[i]);
        VICINITY_RETURN_IF_ERROR(edges.CheckList(row));
        VICINITY_ASSIGN_OR_RETURN(const ListPart list,
                                  FindOrdered(edges, edges.columns[columns[0]], row, bounds(i)));
        if (list.size() > 0) PlaceValues(edges, columns, list.position(0), &values);
        VICINITY_RETURN_IF_ERROR(take(i, targets.keys[row], list, absl::MakeConstSpan(values)));
      }
      return absl::OkStatus();
    });
  }
  // For `take`: verifies sources, ids, weights and these columns of `count` edges of a list.
  absl::Status TouchPart(EdgeTypeId type, absl::Span<const int32_t> columns, const ListPart& list,
                         int64_t first, int64_t count) const;

  // Whether all of a column's rows are as in the files.
  bool IsUnchanged(const ShardColumn& column) const { return CheckUnchanged(column).ok(); }

  // Whether List() may have something for any of these targets.
  bool ChangesLists(EdgeTypeId type, absl::Span<const uint64_t> rows) const {
    return Changes({ShardPart::kLists, type.value}, rows);
  }
  // Only after ChangesLists. Null: it is as in the files.
  absl::StatusOr<ChangedListPtr> FindChangedList(EdgeTypeId type, uint64_t row) const {
    return overlay_->List(type.value, row);
  }

  // Of who samples: calls read(edges, keys of all targets) for lists that are as in the files, with
  // the offsets and keys of these targets verified; it may use all of the edge type's arrays, but
  // verifies the pages of the others itself (SampleOneHop).
  template <typename Read>
  absl::Status ReadLists(EdgeTypeId type, NodeTypeId target_type, absl::Span<const uint64_t> rows,
                         const Read& read) const {
    const EdgeTable& edges = shard_.edges(type);
    const NodeTable& targets = shard_.nodes(target_type);
    VerifiedFile* const files[] = {edges.offsets_file, targets.keys_file, edges.sources_file,
                                   edges.edge_ids_file, edges.weights_file};
    return ReadVerified(files, [&]() -> absl::Status {
      VICINITY_RETURN_IF_ERROR(TouchTargets(edges, targets, rows));
      return read(edges, targets.keys);
    });
  }

 private:
  bool Changes(const ShardPart& part, absl::Span<const uint64_t> rows) const {
    return overlay_ != nullptr && overlay_->Changes(part, rows);
  }
  ShardColumn Column(const ShardPart& part, const ColumnView& base) const;
  absl::Status CheckUnchanged(const ShardColumn& column) const;
  // Of what an overlay says nothing.
  static absl::Status CheckInFiles(int64_t row, int64_t num_rows);

  template <typename Copy>
  absl::Status ReadBaseRange(const ShardColumn& column, int64_t first, int64_t count,
                             const Copy& copy) const {
    const ColumnView& base = column.base_;
    VerifiedFile* const files[] = {base.file};
    return ReadVerified(files, [&]() -> absl::Status {
      VICINITY_RETURN_IF_ERROR(TouchRange(base, first, count));
      return copy(base.data + first * base.row_bytes);
    });
  }

  // Where some rows may have changed: calls take(i, bytes) for every one of `rows` until it gives
  // false, with what the overlay has of it, nothing where it is as in the files; some time before,
  // coming(row) for those.
  template <typename Coming, typename Take>
  absl::Status TakeAll(const ShardPart& part, absl::Span<const uint64_t> rows, int64_t in_files,
                       const Coming& coming, const Take& take) const {
    ChangedRows changed(0);
    for (size_t first = 0; first < rows.size(); first += kChangedAtOnce) {
      const absl::Span<const uint64_t> some = rows.subspan(first, kChangedAtOnce);
      changed.Clear(some.size());
      VICINITY_RETURN_IF_ERROR(overlay_->ReadRows(part, some, &changed));
      for (size_t i = 0; i < std::min(kChangedAhead, some.size()); ++i) {
        if (!changed.row(i)) coming(some[i]);
      }
      for (size_t i = 0; i < some.size(); ++i) {
        if (const size_t next = i + kChangedAhead; next < some.size() && !changed.row(next)) {
          coming(some[next]);
        }
        const std::optional<std::string_view> bytes = changed.row(i);
        if (!bytes) VICINITY_RETURN_IF_ERROR(CheckInFiles(static_cast<int64_t>(some[i]), in_files));
        VICINITY_ASSIGN_OR_RETURN(const bool goes_on, take(first + i, bytes));
        if (!goes_on) return absl::OkStatus();
      }
    }
    return absl::OkStatus();
  }
  template <typename Take>
  static absl::StatusOr<bool> TakeRagged(const RaggedView& base, int64_t row,
                                         std::optional<std::string_view> changed,
                                         const Take& take) {
    if (changed) return take(*changed);
    VICINITY_RETURN_IF_ERROR(TouchRagged(base, row));
    return take(base.row(row));
  }
  // A row of a column as it is now: `changed`, or the files' and verified.
  static absl::StatusOr<const char*> RowOf(const ColumnView& base, uint64_t row,
                                           std::optional<std::string_view> changed);

  template <typename Start, typename Copy>
  absl::Status ReadChangedRows(const ShardColumn& column, absl::Span<const uint64_t> rows,
                               const Start& start, const Copy& copy) const {
    const ColumnView& base = column.base_;
    VerifiedFile* const files[] = {base.file};
    return ReadVerified(files, [&]() -> absl::Status {
      start();
      return TakeAll(
          column.part_, rows, base.num_rows,
          [&](uint64_t row) {
            if (static_cast<int64_t>(row) >= base.num_rows) return;
            PrefetchRow(base.data + row * base.row_bytes, base.row_bytes);
          },
          [&](size_t i, const auto& changed) -> absl::StatusOr<bool> {
            VICINITY_ASSIGN_OR_RETURN(const char* const row, RowOf(base, rows[i], changed));
            copy(i, row);
            return true;
          });
    });
  }
  template <typename Copy>
  absl::Status ReadChangedRange(const ShardColumn& column, int64_t first, int64_t count,
                                const Copy& copy) const {
    std::vector<uint64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), static_cast<uint64_t>(first));
    std::string rows;
    VICINITY_RETURN_IF_ERROR(ReadChangedRows(
        column, numbers, [&] { rows.clear(); },
        [&](size_t, const char* row) {
          rows.append(row, static_cast<size_t>(column.row_bytes()));
        }));
    copy(rows.data());
    return absl::OkStatus();
  }

  static ListPart PartOf(const EdgeTable& edges, const int64_t* positions, int64_t row,
                         int64_t first, int64_t most) {
    const int64_t degree = edges.degree(row);
    const int64_t skipped = std::min(first, degree);
    const int64_t size = std::min(most, degree - skipped);
    return {edges, positions, degree == 0 ? 0 : edges.begin(row) + skipped, size,
            skipped + size < degree};
  }

  static std::vector<VerifiedFile*> ListFiles(const EdgeTable& edges, const NodeTable& targets,
                                              absl::Span<const int32_t> columns) {
    std::vector<VerifiedFile*> files = {edges.offsets_file, targets.keys_file, edges.sources_file,
                                        edges.edge_ids_file, edges.weights_file};
    for (const int32_t column : columns) files.push_back(edges.columns[column].file);
    return files;
  }
  // Where the rows of these columns lie from `position` on.
  static void PlaceValues(const EdgeTable& edges, absl::Span<const int32_t> columns,
                          int64_t position, std::vector<const char*>* values) {
    for (size_t k = 0; k < columns.size(); ++k) {
      const ColumnView& column = edges.columns[columns[k]];
      (*values)[k] = column.data + position * column.row_bytes;
    }
  }
  // The part of a list in the order of `column` where that is within these bounds.
  static absl::StatusOr<ListPart> FindOrdered(const EdgeTable& edges, const ColumnView& column,
                                              int64_t row, std::pair<int64_t, int64_t> bounds);

  static constexpr size_t kListsAhead = 8;
  static constexpr size_t kChangedAtOnce = 1024;  // rows that an overlay is asked for
  static constexpr size_t kChangedAhead = 8;
  static void PrefetchTarget(const EdgeTable& edges, const NodeTable& targets,
                             absl::Span<const uint64_t> rows, size_t i) {
    if (i >= rows.size()) return;
    __builtin_prefetch(&edges.offsets[rows[i]]);
    __builtin_prefetch(&targets.keys[rows[i]]);
  }
  // The beginning of a list and of its values: long ones follow of themselves.
  static void PrefetchList(const EdgeTable& edges, absl::Span<const int32_t> columns,
                           absl::Span<const uint64_t> rows, size_t i) {
    if (i >= rows.size() || !edges.has_list(static_cast<int64_t>(rows[i]))) return;
    const auto begin = edges.begin(static_cast<int64_t>(rows[i]));
    if (edges.sources.narrow() != nullptr) {
      __builtin_prefetch(edges.sources.narrow() + begin);
    } else {
      __builtin_prefetch(edges.sources.wide() + begin);
    }
    constexpr int64_t kLineBytes = 64;
    const int64_t degree = edges.degree(static_cast<int64_t>(rows[i]));
    for (const int32_t column : columns) {
      const ColumnView& values = edges.columns[column];
      const int64_t bytes = std::min(4 * kLineBytes, degree * values.row_bytes);
      const char* const first = values.data + begin * values.row_bytes;
      for (int64_t at = 0; at <= bytes; at += kLineBytes) __builtin_prefetch(first + at);
    }
  }

  // ... which must be possible ones.
  static absl::Status TouchOffsets(const EdgeTable& edges, int64_t row);
  // Positions [begin, end) of sources, edge ids and weights.
  static absl::Status TouchList(const EdgeTable& edges, int64_t begin, int64_t end);
  static absl::Status TouchTargets(const EdgeTable& edges, const NodeTable& targets,
                                   absl::Span<const uint64_t> rows);
  static absl::Status TouchRows(const ColumnView& column, absl::Span<const uint64_t> rows);
  static absl::Status TouchRange(const ColumnView& column, int64_t first, int64_t count);
  static absl::Status TouchRagged(const RaggedView& column, int64_t row);

  const Shard& shard_;
  const std::shared_ptr<const ShardOverlay> overlay_;
};

}  // namespace vicinity

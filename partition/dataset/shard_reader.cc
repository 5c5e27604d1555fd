#include "partition/dataset/shard_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/find_id.h"

namespace vicinity {
namespace {

template <typename T>
absl::Status Touch(VerifiedFile* file, const T* begin, int64_t count) {
  if (file == nullptr) return absl::OkStatus();
  return file->Touch(begin, static_cast<size_t>(count) * sizeof(T));
}

absl::Status TouchIds(VerifiedFile* file, const IdArray& ids, int64_t begin, int64_t count) {
  return ids.narrow() != nullptr ? Touch(file, ids.narrow() + begin, count)
                                 : Touch(file, ids.wide() + begin, count);
}

bool IsWhole(const VerifiedFile* file) { return file == nullptr || file->whole(); }

int64_t FindIdAt(const IdArray& ids, int64_t begin, int64_t count, uint64_t wanted) {
  if (ids.wide() != nullptr) return FindId(ids.wide() + begin, count, wanted);
  if (wanted > UINT32_MAX) return count;
  return FindId(ids.narrow() + begin, count, static_cast<uint32_t>(wanted));
}

// How many pairs ahead memory is asked for where lists begin.
constexpr uint32_t kOffsetsAhead = 12;
// Lists of more edges are gone through once for all pairs of their target.
constexpr int64_t kLongList = 1024;

// From so many pairs of one target on, each of its neighbours is looked up among the pairs' sources
// instead of each of these among the neighbours.
constexpr size_t kManyPairs = 64;

// The place in row's list of each pair's source, its length if it is not there.
void FindPlaces(const EdgeTable& edges, int64_t row, absl::Span<const uint64_t> sources,
                absl::Span<const uint32_t> pairs, int64_t* out) {
  const int64_t begin = edges.begin(row);
  const int64_t degree = edges.degree(row);
  if (pairs.size() < kManyPairs) {
    for (const uint32_t pair : pairs) {
      out[pair] = FindIdAt(edges.sources, begin, degree, sources[pair]);
    }
    return;
  }
  absl::flat_hash_map<uint64_t, int64_t> places;
  for (const uint32_t pair : pairs) places.emplace(sources[pair], degree);
  for (int64_t i = degree - 1; i >= 0; --i) {
    const auto found = places.find(static_cast<uint64_t>(edges.sources[begin + i]));
    if (found != places.end()) found->second = i;
  }
  for (const uint32_t pair : pairs) out[pair] = places.at(sources[pair]);
}

// Asks memory for the beginning of a row's list, if there is one: long ones follow of themselves.
void PrefetchSources(const EdgeTable& edges, uint64_t row) {
  if (row >= static_cast<uint64_t>(edges.num_targets())) return;
  const uint64_t begin = edges.offsets[row];
  if (begin >= static_cast<uint64_t>(edges.num_edges())) return;
  const IdArray& ids = edges.sources;
  const char* const at = ids.narrow() != nullptr
                             ? reinterpret_cast<const char*>(ids.narrow() + begin)
                             : reinterpret_cast<const char*>(ids.wide() + begin);
  __builtin_prefetch(at);
  __builtin_prefetch(at + 64);
}

absl::Status FindInList(const EdgeTable& edges, int64_t row, absl::Span<const uint64_t> sources,
                        absl::Span<const uint32_t> pairs, int64_t* out) {
  const int64_t begin = edges.begin(row);
  const int64_t degree = edges.degree(row);
  VICINITY_RETURN_IF_ERROR(TouchIds(edges.sources_file, edges.sources, begin, degree));
  FindPlaces(edges, row, sources, pairs, out);
  for (const uint32_t pair : pairs) {
    const int64_t place = out[pair];
    if (place < degree) {
      VICINITY_RETURN_IF_ERROR(TouchIds(edges.edge_ids_file, edges.edge_ids, begin + place, 1));
    }
    out[pair] = place < degree ? static_cast<int64_t>(edges.edge_ids[begin + place]) : -1;
  }
  return absl::OkStatus();
}

// ... of one pair.
absl::Status FindOne(const EdgeTable& edges, int64_t row, uint64_t source, int64_t* out) {
  const int64_t begin = edges.begin(row);
  const int64_t degree = edges.degree(row);
  VICINITY_RETURN_IF_ERROR(TouchIds(edges.sources_file, edges.sources, begin, degree));
  const int64_t place = FindIdAt(edges.sources, begin, degree, source);
  *out = -1;
  if (place == degree) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(TouchIds(edges.edge_ids_file, edges.edge_ids, begin + place, 1));
  *out = edges.edge_ids[begin + place];
  return absl::OkStatus();
}

// Pairs of one target one after the other, so that a long list is gone through once for many of
// them.
absl::Status FindInLongLists(const EdgeTable& edges, absl::Span<const uint64_t> sources,
                             absl::Span<const uint64_t> rows, std::vector<uint32_t> pairs,
                             int64_t* out) {
  std::sort(pairs.begin(), pairs.end(),
            [&rows](uint32_t a, uint32_t b) { return rows[a] < rows[b]; });
  for (size_t first = 0, end = 0; first < pairs.size(); first = end) {
    const uint64_t row = rows[pairs[first]];
    while (end < pairs.size() && rows[pairs[end]] == row) ++end;
    VICINITY_RETURN_IF_ERROR(FindInList(edges, static_cast<int64_t>(row), sources,
                                        absl::MakeConstSpan(pairs).subspan(first, end - first),
                                        out));
  }
  return absl::OkStatus();
}

// As std::partition_point over rows [begin, end) of a column of int64: the first that `is_behind`.
// Each page is verified that it looks at.
template <typename IsBehind>
absl::StatusOr<int64_t> FindFirst(const ColumnView& column, int64_t begin, int64_t end,
                                  const IsBehind& is_behind) {
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    const char* const row = column.data + middle * column.row_bytes;
    VICINITY_RETURN_IF_ERROR(Touch(column.file, row, column.row_bytes));
    int64_t value = 0;
    std::memcpy(&value, row, sizeof(value));
    if (is_behind(value)) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

// As std::lower_bound, each page verified that it looks at.
absl::StatusOr<int64_t> FindKey(const NodeTable& nodes, uint64_t key) {
  const absl::Span<const uint64_t> keys = nodes.directory_keys;
  int64_t begin = 0;
  int64_t end = static_cast<int64_t>(keys.size());
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    VICINITY_RETURN_IF_ERROR(Touch(nodes.directory_keys_file, &keys[middle], 1));
    if (keys[middle] < key) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == static_cast<int64_t>(keys.size())) return -1;
  VICINITY_RETURN_IF_ERROR(Touch(nodes.directory_keys_file, &keys[begin], 1));
  if (keys[begin] != key) return -1;
  VICINITY_RETURN_IF_ERROR(TouchIds(nodes.directory_nodes_file, nodes.directory_nodes, begin, 1));
  return nodes.directory_nodes[begin];
}

}  // namespace

int64_t ListPart::Find(int64_t source, int64_t first) const {
  return first +
         FindIdAt(edges_.sources, begin_ + first, size_ - first, static_cast<uint64_t>(source));
}

ShardColumn ShardReader::Column(const ShardPart& part, const ColumnView& base) const {
  ShardColumn column(part, base);
  column.num_rows_ = overlay_ == nullptr ? base.num_rows : overlay_->NumRows(part, base.num_rows);
  return column;
}

ShardColumn ShardReader::NodeColumn(NodeTypeId type, int32_t column) const {
  return Column({ShardPart::kNodeRows, type.value, column}, shard_.nodes(type).columns[column]);
}

ShardColumn ShardReader::KeysColumn(NodeTypeId type) const {
  const NodeTable& nodes = shard_.nodes(type);
  return Column({ShardPart::kNodeRows, type.value, ShardPart::kKeys},
                {reinterpret_cast<const char*>(nodes.keys.data()), nodes.num_nodes(),
                 sizeof(uint64_t), nodes.keys_file});
}

ShardColumn ShardReader::EdgeColumn(EdgeTypeId type, int32_t column) const {
  return Column({ShardPart::kEdgeRows, type.value, column}, shard_.edges(type).columns[column]);
}

int64_t ShardReader::num_nodes(NodeTypeId type) const {
  const int64_t in_files = shard_.nodes(type).num_nodes();
  if (overlay_ == nullptr) return in_files;
  return overlay_->NumRows({ShardPart::kNodeRows, type.value, ShardPart::kKeys}, in_files);
}

int64_t ShardReader::num_edges(EdgeTypeId type) const {
  const int64_t in_files = shard_.edges(type).num_edges();
  if (overlay_ == nullptr) return in_files;
  return overlay_->NumRows({ShardPart::kEdgeRows, type.value}, in_files);
}

absl::Status ShardReader::CheckUnchanged(const ShardColumn& column) const {
  if (overlay_ == nullptr || !overlay_->ChangesRange(column.part_, 0, column.num_rows())) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "rows that have changed since the files were written have no place in them");
}

absl::Status ShardReader::CheckInFiles(int64_t row, int64_t num_rows) {
  if (row < num_rows) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("row ", row, " is new and nothing is known of it"));
}

absl::StatusOr<const char*> ShardReader::RowOf(const ColumnView& base, uint64_t row,
                                               std::optional<std::string_view> changed) {
  if (!changed) {
    VICINITY_RETURN_IF_ERROR(TouchRange(base, static_cast<int64_t>(row), 1));
    return base.data + row * base.row_bytes;
  }
  if (static_cast<int64_t>(changed->size()) == base.row_bytes) return changed->data();
  return absl::InternalError(
      absl::StrCat("row ", row, " has changed to ", changed->size(), " bytes of ", base.row_bytes));
}

absl::Status ShardReader::FindKeys(NodeTypeId type, absl::Span<const uint64_t> keys,
                                   int64_t* out) const {
  const NodeTable& nodes = shard_.nodes(type);
  const bool changed = Changes({ShardPart::kDirectory, type.value}, keys);
  VerifiedFile* const files[] = {nodes.directory_keys_file, nodes.directory_nodes_file};
  return ReadVerified(files, [&]() -> absl::Status {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (changed) {
        if (const auto node = overlay_->Node(type.value, keys[i]); node.has_value()) {
          out[i] = *node;
          continue;
        }
      }
      VICINITY_ASSIGN_OR_RETURN(out[i], FindKey(nodes, keys[i]));
    }
    return absl::OkStatus();
  });
}

absl::Status ShardReader::FindEdges(EdgeTypeId type, absl::Span<const uint64_t> sources,
                                    absl::Span<const uint64_t> rows, int64_t* out) const {
  const EdgeTable& edges = shard_.edges(type);
  const bool changed = ChangesLists(type, rows);
  VerifiedFile* const files[] = {edges.offsets_file, edges.sources_file, edges.edge_ids_file};
  return ReadVerified(files, [&]() -> absl::Status {
    std::vector<uint32_t> long_ones;  // pairs
    for (uint32_t i = 0; i < rows.size(); ++i) {
      if (const size_t next = i + kOffsetsAhead;
          next < rows.size() && rows[next] < static_cast<uint64_t>(edges.num_targets())) {
        __builtin_prefetch(&edges.offsets[rows[next]]);
      }
      if (const size_t next = i + kListsAhead; next < rows.size()) {
        PrefetchSources(edges, rows[next]);
      }
      ChangedListPtr list;
      if (changed) {
        VICINITY_ASSIGN_OR_RETURN(list, overlay_->List(type.value, rows[i]));
      }
      if (list != nullptr) {
        ChangedLists lists;
        lists.Add(*list);
        VICINITY_RETURN_IF_ERROR(FindOne(lists.table(), 0, sources[i], &out[i]));
        continue;
      }
      const auto row = static_cast<int64_t>(rows[i]);
      if (changed) VICINITY_RETURN_IF_ERROR(CheckInFiles(row, edges.num_targets()));
      VICINITY_RETURN_IF_ERROR(TouchOffsets(edges, row));
      if (edges.degree(row) > kLongList) {
        long_ones.push_back(i);
      } else {
        VICINITY_RETURN_IF_ERROR(FindOne(edges, row, sources[i], &out[i]));
      }
    }
    return FindInLongLists(edges, sources, rows, std::move(long_ones), out);
  });
}

absl::Status ShardReader::TouchPart(EdgeTypeId type, absl::Span<const int32_t> columns,
                                    const ListPart& list, int64_t first, int64_t count) const {
  if (count == 0) return absl::OkStatus();
  const EdgeTable& edges = shard_.edges(type);
  const int64_t begin = list.position(first);
  VICINITY_RETURN_IF_ERROR(TouchList(edges, begin, begin + count));
  for (const int32_t column : columns) {
    VICINITY_RETURN_IF_ERROR(TouchRange(edges.columns[column], begin, count));
  }
  return absl::OkStatus();
}

absl::StatusOr<ListPart> ShardReader::FindOrdered(const EdgeTable& edges, const ColumnView& column,
                                                  int64_t row, std::pair<int64_t, int64_t> bounds) {
  const int64_t degree = edges.degree(row);
  if (degree == 0) return PartOf(edges, nullptr, row, 0, 0);
  const int64_t low = bounds.first;
  const int64_t high = bounds.second;
  const int64_t first = edges.begin(row);
  int64_t begin = first;
  int64_t end = first + degree;
  if (low > std::numeric_limits<int64_t>::min()) {
    VICINITY_ASSIGN_OR_RETURN(begin,
                              FindFirst(column, begin, end, [&](int64_t v) { return v >= low; }));
  }
  if (high < std::numeric_limits<int64_t>::max()) {
    VICINITY_ASSIGN_OR_RETURN(end,
                              FindFirst(column, begin, end, [&](int64_t v) { return v > high; }));
  }
  return PartOf(edges, nullptr, row, begin - first, end - begin);
}

absl::Status ShardReader::TouchRows(const ColumnView& column, absl::Span<const uint64_t> rows) {
  if (IsWhole(column.file)) return absl::OkStatus();
  for (const uint64_t row : rows) {
    VICINITY_RETURN_IF_ERROR(
        Touch(column.file, column.data + row * column.row_bytes, column.row_bytes));
  }
  return absl::OkStatus();
}

absl::Status ShardReader::TouchRange(const ColumnView& column, int64_t first, int64_t count) {
  return Touch(column.file, column.data + first * column.row_bytes, count * column.row_bytes);
}

absl::Status ShardReader::TouchRagged(const RaggedView& column, int64_t row) {
  if (column.offsets.empty()) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(Touch(column.offsets_file, &column.offsets[row], 2));
  VICINITY_RETURN_IF_ERROR(column.CheckRow(row));
  const std::string_view bytes = column.row(row);
  return Touch(column.bytes_file, bytes.data(), static_cast<int64_t>(bytes.size()));
}

absl::Status ShardReader::TouchOffsets(const EdgeTable& edges, int64_t row) {
  VICINITY_RETURN_IF_ERROR(Touch(edges.offsets_file, &edges.offsets[row], 2));
  return edges.has_list(row) ? absl::OkStatus() : edges.CheckList(row);
}

absl::Status ShardReader::TouchTargets(const EdgeTable& edges, const NodeTable& targets,
                                       absl::Span<const uint64_t> rows) {
  if (IsWhole(edges.offsets_file) && IsWhole(targets.keys_file)) return absl::OkStatus();
  const uint64_t num_targets = std::min<uint64_t>(edges.num_targets(), targets.num_nodes());
  for (const uint64_t row : rows) {
    if (row >= num_targets) continue;  // the sampler says what is wrong with it
    VICINITY_RETURN_IF_ERROR(Touch(edges.offsets_file, &edges.offsets[row], 2));
    VICINITY_RETURN_IF_ERROR(Touch(targets.keys_file, &targets.keys[row], 1));
  }
  return absl::OkStatus();
}

absl::Status ShardReader::TouchList(const EdgeTable& edges, int64_t begin, int64_t end) {
  const int64_t count = end - begin;
  VICINITY_RETURN_IF_ERROR(TouchIds(edges.sources_file, edges.sources, begin, count));
  VICINITY_RETURN_IF_ERROR(TouchIds(edges.edge_ids_file, edges.edge_ids, begin, count));
  if (edges.weights.empty()) return absl::OkStatus();
  return Touch(edges.weights_file, edges.weights.data() + begin, count);
}

}  // namespace vicinity

#include "partition/dataset/shard_reader.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "partition/dataset/alias_table.h"

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

ColumnView KeysColumn(const NodeTable& nodes) {
  return {reinterpret_cast<const char*>(nodes.keys.data()), nodes.num_nodes(), sizeof(uint64_t),
          nodes.keys_file};
}

absl::Status ShardReader::FindKeys(NodeTypeId type, absl::Span<const uint64_t> keys,
                                   int64_t* out) const {
  const NodeTable& nodes = shard_.nodes(type);
  VerifiedFile* const files[] = {nodes.directory_keys_file, nodes.directory_nodes_file};
  return ReadVerified(files, [&]() -> absl::Status {
    for (size_t i = 0; i < keys.size(); ++i) {
      VICINITY_ASSIGN_OR_RETURN(out[i], FindKey(nodes, keys[i]));
    }
    return absl::OkStatus();
  });
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

absl::Status ShardReader::TouchName(const NodeTable& nodes, int64_t row) {
  if (nodes.name_offsets.empty()) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(Touch(nodes.name_offsets_file, &nodes.name_offsets[row], 2));
  const std::string_view name = nodes.name(row);
  return Touch(nodes.name_bytes_file, name.data(), static_cast<int64_t>(name.size()));
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

absl::Status ShardReader::ReadDegrees(EdgeTypeId type, NodeTypeId target_type,
                                      absl::Span<const uint64_t> rows, int64_t* out) const {
  return ReadLists(type, target_type, rows, [&] {
    const EdgeTable& edges = shard_.edges(type);
    for (size_t i = 0; i < rows.size(); ++i) {
      out[i] = edges.degree(static_cast<int64_t>(rows[i]));
    }
    return absl::OkStatus();
  });
}

}  // namespace vicinity

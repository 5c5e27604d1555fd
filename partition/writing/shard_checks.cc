#include "partition/writing/shard_checks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/column_index.h"
#include "partition/dataset/node_keys.h"
#include "partition/dataset/row_range.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_files.h"
#include "partition/schema/ragged_row.h"
#include "partition/schema/schema.h"
#include "partition/writing/weight_table.h"
#include "proto/common/checksum.h"
#include "proto/common/ids.h"
#include "proto/common/parallel.h"
#include "proto/common/status.h"
#include "proto/manifest.pb.h"

namespace vicinity {
namespace {

int64_t TimeAt(const ColumnView& times, int64_t at) {
  int64_t time = 0;
  std::memcpy(&time, times.row(at).data(), sizeof(time));
  return time;
}

// Checks one range after the other; any number of threads may.
class Checker {
 public:
  explicit Checker(const Dataset& dataset)
      : dataset_(dataset), schema_(dataset.schema()), book_(dataset.book()) {
    for (int32_t t = 0; t < static_cast<int32_t>(schema_.node_types.size()); ++t) {
      keys_.push_back(std::make_unique<NodeKeys>(dataset, NodeTypeId{t}));
    }
  }

  absl::Status CheckNodes(const RowRange& range) const;
  absl::Status CheckEdges(const RowRange& range) const;
  absl::Status CheckDirectory(NodeTypeId type) const;
  absl::Status CheckIndex(const proto::Index& index, const Shard& shard) const;

 private:
  absl::Status CheckName(const RowRange& range, int64_t row) const;
  // Of a ragged column, or the offsets alone of kNamesColumn.
  absl::Status CheckRagged(const RowRange& range, int column, int64_t row) const;
  absl::Status CheckList(const RowRange& range, int64_t begin, int64_t end) const;
  absl::Status CheckWeights(const RowRange& range) const;
  absl::Status CheckDirectoryOf(const Shard& shard, NodeTypeId type) const;
  absl::Status Damage(const std::string& path, int64_t position, const std::string& what) const {
    return absl::DataLossError(
        absl::StrCat(dataset_.directory(), "/", path, ": at ", position, ": ", what));
  }

  const Dataset& dataset_;
  const Schema& schema_;
  const Book& book_;
  std::vector<std::unique_ptr<NodeKeys>> keys_;  // by type
};

absl::Status Checker::CheckNodes(const RowRange& range) const {
  const NodeTypeId type = {range.type};
  const NodeTable& table = range.shard->nodes(type);
  const NodeTypeSpec& spec = schema_.node_types[type.value];
  for (int64_t row = range.begin; row < range.end; ++row) {
    if (spec.id_kind == IdKind::kString) {
      VICINITY_RETURN_IF_ERROR(CheckName(range, row));
    } else if (spec.id_kind == IdKind::kDense &&
               table.keys[row] >= static_cast<uint64_t>(book_.num_nodes(type))) {
      return Damage(
          KeysPath(schema_, range.shard->id(), type), row,
          absl::StrCat("dense id ", table.keys[row], " of ", book_.num_nodes(type), " nodes"));
    }
    for (int c = 0; c < static_cast<int>(spec.ragged.size()); ++c) {
      VICINITY_RETURN_IF_ERROR(CheckRagged(range, c, row));
    }
  }
  return absl::OkStatus();
}

absl::Status Checker::CheckName(const RowRange& range, int64_t row) const {
  const NodeTypeId type = {range.type};
  const NodeTable& table = range.shard->nodes(type);
  VICINITY_RETURN_IF_ERROR(CheckRagged(range, kNamesColumn, row));
  const uint64_t key = Checksum(table.names.row(row), schema_.node_types[type.value].key_salt);
  if (key != table.keys[row]) {
    return Damage(KeysPath(schema_, range.shard->id(), type), row,
                  absl::StrCat("key is ", table.keys[row], ", its name makes ", key));
  }
  return absl::OkStatus();
}

absl::Status Checker::CheckRagged(const RowRange& range, int column, int64_t row) const {
  const NodeTypeId type = {range.type};
  const RaggedView& rows = range.shard->nodes(type).ragged_column(column);
  const uint64_t begin = rows.offsets[row];
  const uint64_t end = rows.offsets[row + 1];
  if (begin > end || end > rows.bytes.size()) {
    return Damage(RaggedOffsetsPath(schema_, range.shard->id(), type, column), row,
                  absl::StrCat("offsets go from ", begin, " to ", end, " of ", rows.bytes.size()));
  }
  if (column == kNamesColumn) return absl::OkStatus();
  const std::string fault =
      RaggedRowFault(schema_.node_types[type.value].ragged[column], rows.row(row));
  if (fault.empty()) return absl::OkStatus();
  return Damage(RaggedBytesPath(schema_, range.shard->id(), type, column),
                static_cast<int64_t>(begin), absl::StrCat("row ", row, " ", fault));
}

absl::Status Checker::CheckEdges(const RowRange& range) const {
  const EdgeTable& table = range.shard->edges(EdgeTypeId{range.type});
  for (int64_t row = range.begin; row < range.end; ++row) {
    const uint64_t begin = table.offsets[row];
    const uint64_t end = table.offsets[row + 1];
    if (begin > end || end > static_cast<uint64_t>(table.num_edges())) {
      return Damage(
          OffsetsPath(schema_, range.shard->id(), EdgeTypeId{range.type}), row,
          absl::StrCat("offsets go from ", begin, " to ", end, " of ", table.num_edges()));
    }
    VICINITY_RETURN_IF_ERROR(
        CheckList(range, static_cast<int64_t>(begin), static_cast<int64_t>(end)));
  }
  return CheckWeights(range);
}

absl::Status Checker::CheckWeights(const RowRange& range) const {
  const EdgeTypeId type = {range.type};
  const EdgeTypeSpec& spec = schema_.edge_types[type.value];
  if (spec.weight_column.empty()) return absl::OkStatus();
  const int column = spec.FindColumn(spec.weight_column);
  const EdgeTable& edges = range.shard->edges(type);
  WeightTable weights(WeightedLists{edges.offsets, edges.edge_ids, edges.columns[column],
                                    spec.columns[column].dtype});
  for (int64_t row = range.begin; row < range.end; ++row) {
    const absl::StatusOr<absl::Span<const AliasEntry>> made = weights.Make(row);
    if (!made.ok()) {
      return Damage(EdgeColumnPath(schema_, range.shard->id(), type, column), edges.begin(row),
                    std::string(made.status().message()));
    }
    const AliasEntry* const stored = edges.weights.data() + edges.begin(row);
    if (made->empty() || std::memcmp(stored, made->data(), made->size() * sizeof(*stored)) == 0) {
      continue;
    }
    return Damage(WeightsPath(schema_, range.shard->id(), type), edges.begin(row),
                  absl::StrCat("the table of row ", row, " is not that of its weights"));
  }
  return absl::OkStatus();
}

absl::Status Checker::CheckList(const RowRange& range, int64_t begin, int64_t end) const {
  const EdgeTypeId type = {range.type};
  const NodeTypeId source_type = {schema_.edge_types[type.value].source_type};
  const EdgeTable& table = range.shard->edges(type);
  const NodeKeys& keys = *keys_[source_type.value];
  const EdgeTypeSpec& spec = schema_.edge_types[type.value];
  const int times = spec.time_order.empty() ? -1 : spec.FindColumn(spec.time_order);
  int64_t time = std::numeric_limits<int64_t>::min();
  std::pair<uint64_t, uint64_t> before = {0, 0};
  for (int64_t i = begin; i < end; ++i) {
    const GlobalNode source = {table.sources[i]};
    if (!book_.Contains(source_type, source)) {
      return Damage(SourcesPath(schema_, range.shard->id(), type), i,
                    absl::StrCat("source ", source.value, " is outside the book's ",
                                 book_.num_nodes(source_type), " nodes"));
    }
    if (times >= 0) {
      const int64_t earlier = std::exchange(time, TimeAt(table.columns[times], i));
      if (time < earlier) {
        return Damage(EdgeColumnPath(schema_, range.shard->id(), type, times), i,
                      absl::StrCat("time ", time, " comes after ", earlier));
      }
      if (time > earlier) before = {0, 0};
    }
    const std::pair<uint64_t, uint64_t> here = {keys[source],
                                                static_cast<uint64_t>(table.edge_ids[i])};
    if (here < before) {
      return Damage(SourcesPath(schema_, range.shard->id(), type), i,
                    absl::StrCat("(source key, edge id) (", here.first, ", ", here.second,
                                 ") comes after (", before.first, ", ", before.second, ")"));
    }
    before = here;
  }
  return absl::OkStatus();
}

// There is one way to write each run, so it is written again.
absl::Status Checker::CheckIndex(const proto::Index& index, const Shard& shard) const {
  const ColumnSpec& spec = index.of_edges()
                               ? schema_.edge_types[index.type()].columns[index.column()]
                               : schema_.node_types[index.type()].columns[index.column()];
  const ColumnView& column = index.of_edges() ? shard.edges({index.type()}).columns[index.column()]
                                              : shard.nodes({index.type()}).columns[index.column()];
  const int64_t row_bytes = IndexRowBytes(spec.dtype);
  std::vector<char> run;
  for (int64_t first = 0; first < column.num_rows; first += kIndexRunRows) {
    const int64_t count = std::min(kIndexRunRows, column.num_rows - first);
    run.resize(count * row_bytes);
    MakeIndexRun(spec.dtype, column.data + first * column.row_bytes, count, run.data());
    const char* const stored = column.index_file->rows().data() + first * row_bytes;
    if (std::memcmp(stored, run.data(), run.size()) == 0) continue;
    return Damage(index.files(shard.id().value).path(), first,
                  absl::StrCat("the run of ", count, " rows is not that of column ", spec.name));
  }
  return absl::OkStatus();
}

// Every entry leads to a node with its key, no key comes twice, and there are as many entries as
// nodes: so every node is listed.
absl::Status Checker::CheckDirectory(NodeTypeId type) const {
  int64_t num_entries = 0;
  for (const std::unique_ptr<Shard>& shard : dataset_.shards()) {
    VICINITY_RETURN_IF_ERROR(CheckDirectoryOf(*shard, type));
    num_entries += shard->nodes(type).directory_nodes.size();
  }
  if (num_entries != book_.num_nodes(type)) {
    return absl::DataLossError(absl::StrCat(dataset_.directory(), ": the directory of node type ",
                                            schema_.node_types[type.value].name, " lists ",
                                            num_entries, " of ", book_.num_nodes(type), " nodes"));
  }
  return absl::OkStatus();
}

absl::Status Checker::CheckDirectoryOf(const Shard& shard, NodeTypeId type) const {
  const NodeTable& table = shard.nodes(type);
  const absl::Span<const uint64_t> keys = table.directory_keys;
  for (int64_t i = 0; i < static_cast<int64_t>(keys.size()); ++i) {
    const GlobalNode node = {table.directory_nodes[i]};
    if (i > 0 && keys[i - 1] >= keys[i]) {
      return Damage(DirectoryKeysPath(schema_, shard.id(), type), i,
                    absl::StrCat("key ", keys[i], " comes after ", keys[i - 1]));
    }
    if (!(book_.DirectoryShard(keys[i]) == shard.id())) {
      return Damage(
          DirectoryKeysPath(schema_, shard.id(), type), i,
          absl::StrCat("key ", keys[i], " belongs to shard ", book_.DirectoryShard(keys[i]).value));
    }
    if (!book_.Contains(type, node) || (*keys_[type.value])[node] != keys[i]) {
      return Damage(DirectoryNodesPath(schema_, shard.id(), type), i,
                    absl::StrCat("node ", node.value, " does not have key ", keys[i]));
    }
  }
  return absl::OkStatus();
}

// Runs `check` on every range, told as `phase`.
template <typename Check>
absl::Status CheckAll(const std::vector<RowRange>& ranges, absl::string_view phase,
                      Progress* progress, const Check& check) {
  int64_t num_rows = 0;
  for (const RowRange& range : ranges) num_rows += range.end - range.begin;
  progress->Begin({phase.data(), phase.size()}, num_rows, "nodes");
  VICINITY_RETURN_IF_ERROR(
      ForEachInParallel(ranges.size(), progress, [&](int64_t i) -> absl::StatusOr<int64_t> {
        VICINITY_RETURN_IF_ERROR(check(ranges[i]));
        return ranges[i].end - ranges[i].begin;
      }));
  progress->End();
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckShards(const Dataset& dataset, Progress* progress) {
  if (!dataset.whole()) {
    return absl::FailedPreconditionError(
        absl::StrCat(dataset.directory(), ": not all shards are open"));
  }
  const Checker checker(dataset);
  VICINITY_RETURN_IF_ERROR(
      CheckAll(NodeRanges(dataset), "checking nodes", progress,
               [&](const RowRange& range) { return checker.CheckNodes(range); }));
  VICINITY_RETURN_IF_ERROR(
      CheckAll(EdgeRanges(dataset), "checking lists", progress,
               [&](const RowRange& range) { return checker.CheckEdges(range); }));
  const int64_t num_types = static_cast<int64_t>(dataset.schema().node_types.size());
  progress->Begin("checking directories", num_types, "node types");
  VICINITY_RETURN_IF_ERROR(
      ForEachInParallel(num_types, progress, [&](int64_t t) -> absl::StatusOr<int64_t> {
        VICINITY_RETURN_IF_ERROR(checker.CheckDirectory({static_cast<int32_t>(t)}));
        return 1;
      }));
  progress->End();
  const auto& indexes = dataset.manifest().indexes();
  const auto num_shards = static_cast<int64_t>(dataset.shards().size());
  progress->Begin("checking indexes", indexes.size() * num_shards, "files");
  VICINITY_RETURN_IF_ERROR(ForEachInParallel(
      indexes.size() * num_shards, progress, [&](int64_t i) -> absl::StatusOr<int64_t> {
        VICINITY_RETURN_IF_ERROR(checker.CheckIndex(indexes.Get(static_cast<int>(i / num_shards)),
                                                    *dataset.shards()[i % num_shards]));
        return 1;
      }));
  progress->End();
  return absl::OkStatus();
}

}  // namespace vicinity

#include "partition/dataset/shard_files.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/column_index.h"
#include "partition/dataset/verified_file.h"
#include "proto/common/file_identity.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

std::string NodePath(const Schema& schema, ShardId shard, NodeTypeId type, absl::string_view part) {
  return absl::StrCat(ShardFolder(shard), "/nodes.", schema.node_types[type.value].name, ".", part);
}

std::string EdgePath(const Schema& schema, ShardId shard, EdgeTypeId type, absl::string_view part) {
  const EdgeTypeSpec& edge = schema.edge_types[type.value];
  return absl::StrCat(ShardFolder(shard), "/edges.", schema.node_types[edge.source_type].name, ".",
                      edge.relation, ".", schema.node_types[edge.target_type].name, ".", part);
}

// A path's part for a ragged column, or for names.
std::string RaggedPart(const NodeTypeSpec& spec, int column) {
  return column == kNamesColumn ? "names" : absl::StrCat("ragged.", spec.ragged[column].name);
}

// One mapped file as an array.
struct Array {
  std::string_view data;
  int64_t num_rows = 0;
  int64_t row_bytes = 0;
  VerifiedFile* file = nullptr;

  template <typename T>
  absl::Span<const T> as() const {
    return {reinterpret_cast<const T*>(data.data()), static_cast<size_t>(num_rows)};
  }
  IdArray ids() const { return row_bytes == 4 ? IdArray(as<uint32_t>()) : IdArray(as<uint64_t>()); }
  ColumnView column() const { return {data.data(), num_rows, row_bytes, file}; }
};

// What sampling reads of every edge that it draws.
bool IsReadAtRandom(FileKind kind) {
  return kind == FileKind::kKeys || kind == FileKind::kOffsets || kind == FileKind::kSources ||
         kind == FileKind::kEdgeIds || kind == FileKind::kWeights;
}

constexpr int64_t kAnyCount = -1;
constexpr int64_t kAnyIdBytes = -1;  // 4 or 8

class ShardMapper {
 public:
  ShardMapper(const ShardSource& source, std::shared_ptr<const OpenFolder> folder)
      : directory_(source.directory),
        format_version_(source.format_version),
        schema_(*source.schema),
        book_(*source.book),
        shard_(source.shard),
        folder_(std::move(folder)),
        faults_(std::make_unique<FaultList>()) {
    for (const proto::FileEntry& file : source.entry->files()) entries_[file.path()] = &file;
    for (const proto::Index* const index : source.indexes) {
      const proto::FileEntry& file = index->files(shard_.value);
      entries_[file.path()] = &file;
    }
  }

  absl::StatusOr<NodeTable> MapNodes(NodeTypeId type);
  absl::StatusOr<EdgeTable> MapEdges(EdgeTypeId type);
  std::vector<std::unique_ptr<VerifiedFile>> TakeFiles() { return std::move(files_); }
  std::unique_ptr<FaultList> TakeFaults() { return std::move(faults_); }

 private:
  // num_rows and row_bytes are what the schema, the book and other files demand.
  absl::StatusOr<Array> Map(const std::string& path, FileKind kind, int64_t num_rows,
                            int64_t row_bytes);
  // Offsets into an array of `num_items`.
  absl::StatusOr<Array> MapOffsets(const std::string& path, FileKind kind, int64_t num_lists,
                                   int64_t num_items);
  absl::StatusOr<RaggedView> MapRagged(NodeTypeId type, int column);
  // A column with its index, if the manifest has one.
  absl::StatusOr<ColumnView> MapColumn(const std::string& path, const std::string& index_path,
                                       const ColumnSpec& spec, int64_t num_rows);

  const std::string& directory_;
  const uint32_t format_version_;
  const Schema& schema_;
  const Book& book_;
  const ShardId shard_;
  const std::shared_ptr<const OpenFolder> folder_;  // with the files
  absl::flat_hash_map<std::string, const proto::FileEntry*> entries_;
  std::unique_ptr<FaultList> faults_;  // outlives the files
  std::vector<std::unique_ptr<VerifiedFile>> files_;
};

absl::StatusOr<Array> ShardMapper::Map(const std::string& path, FileKind kind, int64_t num_rows,
                                       int64_t row_bytes) {
  const auto entry = entries_.find(path);
  if (entry == entries_.end()) {
    return absl::DataLossError(absl::StrCat(directory_, ": the manifest does not list ", path));
  }
  VerifiedFile::Source source;
  source.directory = directory_;
  source.folder = folder_;
  source.entry = entry->second;
  source.kind = kind;
  source.format_version = format_version_;
  source.faults = faults_.get();
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<VerifiedFile> file, VerifiedFile::Open(source));
  const std::string& full_path = file->path();
  const Array array = {file->rows(), static_cast<int64_t>(file->header().num_rows),
                       static_cast<int64_t>(file->header().row_bytes), file.get()};
  if (num_rows != kAnyCount && array.num_rows != num_rows) {
    return absl::DataLossError(
        absl::StrCat(full_path, ": has ", array.num_rows, " rows, expected ", num_rows));
  }
  const bool good_stride = row_bytes == kAnyIdBytes ? array.row_bytes == 4 || array.row_bytes == 8
                                                    : array.row_bytes == row_bytes;
  if (!good_stride) {
    return absl::DataLossError(
        absl::StrCat(full_path, ": rows have ", array.row_bytes, " bytes, expected ",
                     row_bytes == kAnyIdBytes ? std::string("4 or 8") : absl::StrCat(row_bytes)));
  }
  if (IsReadAtRandom(kind)) file->AskForHugePages();
  files_.push_back(std::move(file));
  return array;
}

absl::StatusOr<Array> ShardMapper::MapOffsets(const std::string& path, FileKind kind,
                                              int64_t num_lists, int64_t num_items) {
  VICINITY_ASSIGN_OR_RETURN(const Array array, Map(path, kind, num_lists + 1, 8));
  const absl::Span<const uint64_t> offsets = array.as<uint64_t>();
  if (offsets.front() != 0 || offsets.back() != static_cast<uint64_t>(num_items)) {
    return absl::DataLossError(absl::StrCat(directory_, "/", path, ": offsets run from ",
                                            offsets.front(), " to ", offsets.back(),
                                            ", expected 0 to ", num_items));
  }
  return array;
}

absl::StatusOr<RaggedView> ShardMapper::MapRagged(NodeTypeId type, int column) {
  VICINITY_ASSIGN_OR_RETURN(const Array bytes, Map(RaggedBytesPath(schema_, shard_, type, column),
                                                   FileKind::kRaggedBytes, kAnyCount, 1));
  VICINITY_ASSIGN_OR_RETURN(
      const Array offsets,
      MapOffsets(RaggedOffsetsPath(schema_, shard_, type, column), FileKind::kRaggedOffsets,
                 book_.num_nodes(type, shard_), bytes.num_rows));
  return RaggedView{offsets.as<uint64_t>(), bytes.data, offsets.file, bytes.file};
}

absl::StatusOr<ColumnView> ShardMapper::MapColumn(const std::string& path,
                                                  const std::string& index_path,
                                                  const ColumnSpec& spec, int64_t num_rows) {
  VICINITY_ASSIGN_OR_RETURN(const Array array,
                            Map(path, FileKind::kColumn, num_rows, spec.row_bytes()));
  ColumnView column = array.column();
  if (entries_.count(index_path) > 0) {
    VICINITY_ASSIGN_OR_RETURN(
        const Array index, Map(index_path, FileKind::kIndex, num_rows, IndexRowBytes(spec.dtype)));
    column.index_file = index.file;
  }
  return column;
}

absl::StatusOr<NodeTable> ShardMapper::MapNodes(NodeTypeId type) {
  const NodeTypeSpec& spec = schema_.node_types[type.value];
  const int64_t num_nodes = book_.num_nodes(type, shard_);
  NodeTable table;
  VICINITY_ASSIGN_OR_RETURN(const Array keys,
                            Map(KeysPath(schema_, shard_, type), FileKind::kKeys, num_nodes, 8));
  table.keys = keys.as<uint64_t>();
  table.keys_file = keys.file;
  if (spec.id_kind == IdKind::kString) {
    VICINITY_ASSIGN_OR_RETURN(table.names, MapRagged(type, kNamesColumn));
  }
  for (int c = 0; c < static_cast<int>(spec.columns.size()); ++c) {
    VICINITY_ASSIGN_OR_RETURN(
        table.columns.emplace_back(),
        MapColumn(NodeColumnPath(schema_, shard_, type, c), NodeIndexPath(schema_, shard_, type, c),
                  spec.columns[c], num_nodes));
  }
  for (int c = 0; c < static_cast<int>(spec.ragged.size()); ++c) {
    VICINITY_ASSIGN_OR_RETURN(table.ragged.emplace_back(), MapRagged(type, c));
  }
  VICINITY_ASSIGN_OR_RETURN(const Array directory, Map(DirectoryKeysPath(schema_, shard_, type),
                                                       FileKind::kDirectoryKeys, kAnyCount, 8));
  table.directory_keys = directory.as<uint64_t>();
  table.directory_keys_file = directory.file;
  VICINITY_ASSIGN_OR_RETURN(
      const Array nodes, Map(DirectoryNodesPath(schema_, shard_, type), FileKind::kDirectoryNodes,
                             directory.num_rows, StoredNodeIdBytes(book_.num_nodes(type))));
  table.directory_nodes = nodes.ids();
  table.directory_nodes_file = nodes.file;
  return table;
}

absl::StatusOr<EdgeTable> ShardMapper::MapEdges(EdgeTypeId type) {
  const EdgeTypeSpec& spec = schema_.edge_types[type.value];
  const int64_t num_sources = book_.num_nodes(NodeTypeId{spec.source_type});
  const int64_t num_targets = book_.num_nodes(NodeTypeId{spec.target_type}, shard_);
  EdgeTable table;
  VICINITY_ASSIGN_OR_RETURN(const Array sources,
                            Map(SourcesPath(schema_, shard_, type), FileKind::kSources, kAnyCount,
                                StoredNodeIdBytes(num_sources)));
  table.sources = sources.ids();
  table.sources_file = sources.file;
  VICINITY_ASSIGN_OR_RETURN(const Array offsets,
                            MapOffsets(OffsetsPath(schema_, shard_, type), FileKind::kOffsets,
                                       num_targets, sources.num_rows));
  table.offsets = offsets.as<uint64_t>();
  table.offsets_file = offsets.file;
  VICINITY_ASSIGN_OR_RETURN(
      const Array edge_ids,
      Map(EdgeIdsPath(schema_, shard_, type), FileKind::kEdgeIds, sources.num_rows, kAnyIdBytes));
  table.edge_ids = edge_ids.ids();
  table.edge_ids_file = edge_ids.file;
  for (int c = 0; c < static_cast<int>(spec.columns.size()); ++c) {
    VICINITY_ASSIGN_OR_RETURN(
        table.columns.emplace_back(),
        MapColumn(EdgeColumnPath(schema_, shard_, type, c), EdgeIndexPath(schema_, shard_, type, c),
                  spec.columns[c], sources.num_rows));
  }
  if (!spec.weight_column.empty()) {
    VICINITY_ASSIGN_OR_RETURN(const Array weights,
                              Map(WeightsPath(schema_, shard_, type), FileKind::kWeights,
                                  sources.num_rows, sizeof(AliasEntry)));
    table.weights = weights.as<AliasEntry>();
    table.weights_file = weights.file;
  }
  return table;
}

absl::StatusOr<const ColumnSpec*> IndexedColumn(const Schema& schema, const proto::Index& index) {
  const size_t num_types = index.of_edges() ? schema.edge_types.size() : schema.node_types.size();
  if (index.type() < 0 || static_cast<size_t>(index.type()) >= num_types) {
    return absl::DataLossError(absl::StrCat("an index is of type ", index.type(), " of ", num_types,
                                            index.of_edges() ? " edge" : " node", " types"));
  }
  const std::vector<ColumnSpec>& columns = index.of_edges()
                                               ? schema.edge_types[index.type()].columns
                                               : schema.node_types[index.type()].columns;
  if (index.column() < 0 || static_cast<size_t>(index.column()) >= columns.size()) {
    return absl::DataLossError(
        absl::StrCat("an index is of column ", index.column(), " of ", columns.size()));
  }
  const ColumnSpec& column = columns[index.column()];
  if (column.num_values() == 1) return &column;
  return absl::DataLossError(absl::StrCat("an index is of column ", column.name, ", which has ",
                                          column.num_values(), " values a row"));
}

}  // namespace

std::string ShardFolder(ShardId shard) { return absl::StrFormat("shard-%05d", shard.value); }

std::string KeysPath(const Schema& schema, ShardId shard, NodeTypeId type) {
  return NodePath(schema, shard, type, "keys");
}

std::string RaggedOffsetsPath(const Schema& schema, ShardId shard, NodeTypeId type, int column) {
  return NodePath(schema, shard, type,
                  absl::StrCat(RaggedPart(schema.node_types[type.value], column), ".offsets"));
}

std::string RaggedBytesPath(const Schema& schema, ShardId shard, NodeTypeId type, int column) {
  return NodePath(schema, shard, type,
                  absl::StrCat(RaggedPart(schema.node_types[type.value], column), ".bytes"));
}

std::string NodeColumnPath(const Schema& schema, ShardId shard, NodeTypeId type, int column) {
  return NodePath(schema, shard, type,
                  absl::StrCat("column.", schema.node_types[type.value].columns[column].name));
}

std::string DirectoryKeysPath(const Schema& schema, ShardId shard, NodeTypeId type) {
  return NodePath(schema, shard, type, "directory.keys");
}

std::string DirectoryNodesPath(const Schema& schema, ShardId shard, NodeTypeId type) {
  return NodePath(schema, shard, type, "directory.nodes");
}

std::string OffsetsPath(const Schema& schema, ShardId shard, EdgeTypeId type) {
  return EdgePath(schema, shard, type, "offsets");
}

std::string SourcesPath(const Schema& schema, ShardId shard, EdgeTypeId type) {
  return EdgePath(schema, shard, type, "sources");
}

std::string EdgeIdsPath(const Schema& schema, ShardId shard, EdgeTypeId type) {
  return EdgePath(schema, shard, type, "ids");
}

std::string EdgeColumnPath(const Schema& schema, ShardId shard, EdgeTypeId type, int column) {
  return EdgePath(schema, shard, type,
                  absl::StrCat("column.", schema.edge_types[type.value].columns[column].name));
}

std::string WeightsPath(const Schema& schema, ShardId shard, EdgeTypeId type) {
  return EdgePath(schema, shard, type,
                  absl::StrCat("weights.", schema.edge_types[type.value].weight_column));
}

std::string NodeIndexPath(const Schema& schema, ShardId shard, NodeTypeId type, int column) {
  return NodePath(schema, shard, type,
                  absl::StrCat("index.", schema.node_types[type.value].columns[column].name));
}

std::string EdgeIndexPath(const Schema& schema, ShardId shard, EdgeTypeId type, int column) {
  return EdgePath(schema, shard, type,
                  absl::StrCat("index.", schema.edge_types[type.value].columns[column].name));
}

int64_t StoredNodeIdBytes(int64_t num_nodes) { return num_nodes < int64_t{1} << 32 ? 4 : 8; }

std::vector<std::string> ShardPaths(const Schema& schema, ShardId shard) {
  std::vector<std::string> paths;
  for (int32_t t = 0; t < static_cast<int32_t>(schema.node_types.size()); ++t) {
    const NodeTypeSpec& spec = schema.node_types[t];
    paths.push_back(KeysPath(schema, shard, {t}));
    if (spec.id_kind == IdKind::kString) {
      paths.push_back(RaggedOffsetsPath(schema, shard, {t}, kNamesColumn));
      paths.push_back(RaggedBytesPath(schema, shard, {t}, kNamesColumn));
    }
    paths.push_back(DirectoryKeysPath(schema, shard, {t}));
    paths.push_back(DirectoryNodesPath(schema, shard, {t}));
    for (int c = 0; c < static_cast<int>(spec.columns.size()); ++c) {
      paths.push_back(NodeColumnPath(schema, shard, {t}, c));
    }
    for (int c = 0; c < static_cast<int>(spec.ragged.size()); ++c) {
      paths.push_back(RaggedOffsetsPath(schema, shard, {t}, c));
      paths.push_back(RaggedBytesPath(schema, shard, {t}, c));
    }
  }
  for (int32_t e = 0; e < static_cast<int32_t>(schema.edge_types.size()); ++e) {
    paths.push_back(OffsetsPath(schema, shard, {e}));
    paths.push_back(SourcesPath(schema, shard, {e}));
    paths.push_back(EdgeIdsPath(schema, shard, {e}));
    for (int c = 0; c < static_cast<int>(schema.edge_types[e].columns.size()); ++c) {
      paths.push_back(EdgeColumnPath(schema, shard, {e}, c));
    }
    if (!schema.edge_types[e].weight_column.empty()) {
      paths.push_back(WeightsPath(schema, shard, {e}));
    }
  }
  return paths;
}

absl::Status CheckIndexes(const Schema& schema, const proto::Manifest& manifest) {
  absl::flat_hash_set<std::string> seen;
  for (const proto::Index& index : manifest.indexes()) {
    VICINITY_ASSIGN_OR_RETURN(const ColumnSpec* column, IndexedColumn(schema, index));
    for (int32_t s = 0; s < index.files_size(); ++s) {
      const std::string path = index.of_edges()
                                   ? EdgeIndexPath(schema, {s}, {index.type()}, index.column())
                                   : NodeIndexPath(schema, {s}, {index.type()}, index.column());
      if (index.files(s).path() == path && seen.insert(path).second) continue;
      return absl::DataLossError(absl::StrCat("the index of column ", column->name, " lists ",
                                              index.files(s).path(), ", expected ", path,
                                              ", once"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Shard>> MapShard(const ShardSource& source) {
  const Schema& schema = *source.schema;
  absl::StatusOr<std::shared_ptr<const OpenFolder>> folder =
      OpenFolder::Open(absl::StrCat(source.directory, "/", ShardFolder(source.shard)));
  if (!folder.ok()) return absl::DataLossError(folder.status().message());
  ShardMapper mapper(source, *std::move(folder));
  std::vector<NodeTable> nodes;
  for (int32_t t = 0; t < static_cast<int32_t>(schema.node_types.size()); ++t) {
    VICINITY_ASSIGN_OR_RETURN(NodeTable table, mapper.MapNodes({t}));
    nodes.push_back(std::move(table));
  }
  std::vector<EdgeTable> edges;
  for (int32_t e = 0; e < static_cast<int32_t>(schema.edge_types.size()); ++e) {
    VICINITY_ASSIGN_OR_RETURN(EdgeTable table, mapper.MapEdges({e}));
    edges.push_back(std::move(table));
  }
  std::unique_ptr<FaultList> faults = mapper.TakeFaults();
  return std::make_unique<Shard>(source.shard, std::move(faults), mapper.TakeFiles(),
                                 std::move(nodes), std::move(edges));
}

}  // namespace vicinity

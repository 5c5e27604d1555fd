#include "partition/writing/dataset_writer.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/page_sums.h"
#include "partition/dataset/schema_proto.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_files.h"
#include "partition/dataset/weight_table.h"
#include "partition/writing/audit.h"
#include "partition/writing/partial_folder.h"
#include "proto/common/checksum.h"
#include "proto/common/parallel.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kUnknown = -1;
constexpr int64_t kTargetsAPiece = 1 << 14;

FileHeader WrittenHeader(MappedOutput& file) {
  FileHeader header;
  std::memcpy(&header, file.bytes().data(), sizeof(header));
  return header;
}

}  // namespace

struct DatasetWriter::State {
  std::unique_ptr<PartialFolder> folder;
  std::string name;
  Schema schema;
  Book book;
  std::map<std::string, std::unique_ptr<MappedOutput>> files;  // by relative path
  std::vector<std::vector<int64_t>> num_edges;                 // [shard][edge type], or kUnknown
  std::vector<uint64_t> edge_id_bounds;                        // 0: unknown

  const std::string& directory() const { return folder->final_path(); }
  const std::string& partial() const { return folder->partial_path(); }
  absl::Status CheckShard(ShardId shard) const;
  absl::Status CheckNodeType(ShardId shard, NodeTypeId type) const;
  absl::Status CheckNamedType(ShardId shard, NodeTypeId type) const;
  absl::Status CheckEdgeType(ShardId shard, EdgeTypeId type) const;
  // The edge arrays of one shard and type must all have one length.
  absl::Status FixNumEdges(ShardId shard, EdgeTypeId type, int64_t edges);
  absl::StatusOr<OutputArray> NewArray(const std::string& path, FileKind kind, int64_t num_rows,
                                       int64_t row_bytes);
  absl::Span<const uint64_t> KeysOf(ShardId shard, NodeTypeId type);

  absl::Status CheckComplete() const;
  absl::Status WriteDirectory(ShardId shard, NodeTypeId type,
                              const std::vector<std::pair<uint64_t, int64_t>>& entries);
  absl::StatusOr<std::vector<std::pair<uint64_t, int64_t>>> DirectoryEntries(ShardId shard,
                                                                             NodeTypeId type);
  absl::Status BuildDirectories();
  absl::Status BuildWeights();
  absl::Status FillWeights(ShardId shard, EdgeTypeId type);
  // What was written of a list's edges, as its readers will see it.
  EdgeTable WrittenEdges(ShardId shard, EdgeTypeId type);
  absl::Status SealFiles(proto::Manifest* manifest);
  absl::Status Audit(const proto::Audit* expected, proto::Manifest* manifest) const;
};

absl::Status DatasetWriter::State::CheckShard(ShardId shard) const {
  if (shard.value >= 0 && shard.value < book.num_shards()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(directory(), ": no shard ", shard.value, " of ", book.num_shards()));
}

absl::Status DatasetWriter::State::CheckNodeType(ShardId shard, NodeTypeId type) const {
  VICINITY_RETURN_IF_ERROR(CheckShard(shard));
  if (type.value >= 0 && type.value < book.num_node_types()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(directory(), ": no node type ", type.value));
}

absl::Status DatasetWriter::State::CheckNamedType(ShardId shard, NodeTypeId type) const {
  VICINITY_RETURN_IF_ERROR(CheckNodeType(shard, type));
  const NodeTypeSpec& spec = schema.node_types[type.value];
  if (spec.id_kind == IdKind::kString) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(directory(), ": node type ", spec.name, " has no names"));
}

absl::Status DatasetWriter::State::CheckEdgeType(ShardId shard, EdgeTypeId type) const {
  VICINITY_RETURN_IF_ERROR(CheckShard(shard));
  if (type.value >= 0 && type.value < static_cast<int32_t>(schema.edge_types.size())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(directory(), ": no edge type ", type.value));
}

absl::Status DatasetWriter::State::FixNumEdges(ShardId shard, EdgeTypeId type, int64_t edges) {
  VICINITY_RETURN_IF_ERROR(CheckEdgeType(shard, type));
  int64_t& known = num_edges[shard.value][type.value];
  if (known == kUnknown) known = edges;
  if (known == edges && edges >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(ShardFolder(shard), ": edge type ",
                                                 schema.EdgeTypeName(type.value), ": ", edges,
                                                 " edges asked for, ", known, " before"));
}

absl::StatusOr<OutputArray> DatasetWriter::State::NewArray(const std::string& path, FileKind kind,
                                                           int64_t num_rows, int64_t row_bytes) {
  constexpr int64_t kLargest = int64_t{1} << 62;
  if (num_rows < 0 || (row_bytes > 0 && num_rows > (kLargest - 64) / row_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", num_rows, " rows of ", row_bytes, " bytes"));
  }
  const PageLayout layout =
      LayoutOf(static_cast<int64_t>(sizeof(FileHeader)) + num_rows * row_bytes);
  VICINITY_ASSIGN_OR_RETURN(
      std::unique_ptr<MappedOutput> output,
      MappedOutput::Create(absl::StrCat(partial(), "/", path), layout.file_bytes()));
  const FileHeader header = MakeHeader(kind, num_rows, row_bytes);
  std::memcpy(output->bytes().data(), &header, sizeof(header));
  const OutputArray array = {output->bytes().data() + sizeof(header), num_rows, row_bytes};
  files[path] = std::move(output);
  return array;
}

absl::Span<const uint64_t> DatasetWriter::State::KeysOf(ShardId shard, NodeTypeId type) {
  const absl::Span<char> bytes = files.at(KeysPath(schema, shard, type))->bytes();
  return {reinterpret_cast<const uint64_t*>(bytes.data() + sizeof(FileHeader)),
          static_cast<size_t>(book.num_nodes(type, shard))};
}

absl::Status DatasetWriter::State::CheckComplete() const {
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    std::set<std::string> made_here;  // by Finish()
    for (int32_t t = 0; t < book.num_node_types(); ++t) {
      made_here.insert(DirectoryKeysPath(schema, {s}, {t}));
      made_here.insert(DirectoryNodesPath(schema, {s}, {t}));
    }
    for (int32_t e = 0; e < static_cast<int32_t>(schema.edge_types.size()); ++e) {
      made_here.insert(WeightsPath(schema, {s}, {e}));
    }
    for (const std::string& path : ShardPaths(schema, {s})) {
      if (made_here.count(path) == 0 && files.count(path) == 0) {
        return absl::FailedPreconditionError(
            absl::StrCat(directory(), ": ", path, " was never asked for"));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::pair<uint64_t, int64_t>>> DatasetWriter::State::DirectoryEntries(
    ShardId shard, NodeTypeId type) {
  std::vector<std::pair<uint64_t, int64_t>> entries;
  entries.reserve(book.num_nodes(type) / book.num_shards() + 1);
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    int64_t node = book.First(type, {s}).value;
    for (const uint64_t key : KeysOf({s}, type)) {
      if (book.DirectoryShard(key) == shard) entries.emplace_back(key, node);
      ++node;
    }
  }
  std::sort(entries.begin(), entries.end());
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].first == entries[i - 1].first) {
      return absl::InvalidArgumentError(absl::StrCat(
          "node type ", schema.node_types[type.value].name, ": nodes ", entries[i - 1].second,
          " and ", entries[i].second, " have the same key ", entries[i].first));
    }
  }
  return entries;
}

absl::Status DatasetWriter::State::WriteDirectory(
    ShardId shard, NodeTypeId type, const std::vector<std::pair<uint64_t, int64_t>>& entries) {
  const int64_t size = static_cast<int64_t>(entries.size());
  VICINITY_ASSIGN_OR_RETURN(const OutputArray keys, NewArray(DirectoryKeysPath(schema, shard, type),
                                                             FileKind::kDirectoryKeys, size, 8));
  VICINITY_ASSIGN_OR_RETURN(
      const OutputArray nodes,
      NewArray(DirectoryNodesPath(schema, shard, type), FileKind::kDirectoryNodes, size,
               StoredNodeIdBytes(book.num_nodes(type))));
  for (int64_t i = 0; i < size; ++i) {
    keys.as<uint64_t>()[i] = entries[i].first;
    StoreId(nodes, i, static_cast<uint64_t>(entries[i].second));
  }
  return absl::OkStatus();
}

absl::Status DatasetWriter::State::BuildDirectories() {
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    for (int32_t t = 0; t < book.num_node_types(); ++t) {
      VICINITY_ASSIGN_OR_RETURN(const auto entries, DirectoryEntries({s}, {t}));
      VICINITY_RETURN_IF_ERROR(WriteDirectory({s}, {t}, entries));
    }
  }
  return absl::OkStatus();
}

EdgeTable DatasetWriter::State::WrittenEdges(ShardId shard, EdgeTypeId type) {
  const auto data = [this](const std::string& path) {
    return files.at(path)->bytes().data() + sizeof(FileHeader);
  };
  const EdgeTypeSpec& spec = schema.edge_types[type.value];
  const auto edges = static_cast<size_t>(num_edges[shard.value][type.value]);
  EdgeTable table;
  table.offsets = {reinterpret_cast<const uint64_t*>(data(OffsetsPath(schema, shard, type))),
                   static_cast<size_t>(book.num_nodes({spec.target_type}, shard) + 1)};
  const char* const ids = data(EdgeIdsPath(schema, shard, type));
  const uint64_t id_bytes = WrittenHeader(*files.at(EdgeIdsPath(schema, shard, type))).row_bytes;
  table.edge_ids =
      id_bytes == 4 ? IdArray(absl::MakeConstSpan(reinterpret_cast<const uint32_t*>(ids), edges))
                    : IdArray(absl::MakeConstSpan(reinterpret_cast<const uint64_t*>(ids), edges));
  table.sources = table.edge_ids;  // for their number
  for (int c = 0; c < static_cast<int>(spec.columns.size()); ++c) {
    table.columns.push_back({data(EdgeColumnPath(schema, shard, type, c)),
                             static_cast<int64_t>(edges), spec.columns[c].row_bytes()});
  }
  return table;
}

absl::Status DatasetWriter::State::FillWeights(ShardId shard, EdgeTypeId type) {
  const EdgeTypeSpec& spec = schema.edge_types[type.value];
  const int column = spec.FindColumn(spec.weight_column);
  const EdgeTable edges = WrittenEdges(shard, type);
  VICINITY_ASSIGN_OR_RETURN(const OutputArray out,
                            NewArray(WeightsPath(schema, shard, type), FileKind::kWeights,
                                     edges.num_edges(), sizeof(AliasEntry)));
  const int64_t num_pieces = (edges.num_targets() + kTargetsAPiece - 1) / kTargetsAPiece;
  const absl::Status status =
      ForEachInParallel(num_pieces, NoProgress(), [&](int64_t piece) -> absl::StatusOr<int64_t> {
        WeightTable weights(edges, spec.columns[column].dtype, column);
        const int64_t begin = piece * kTargetsAPiece;
        const int64_t end = std::min(begin + kTargetsAPiece, edges.num_targets());
        for (int64_t row = begin; row < end; ++row) {
          VICINITY_ASSIGN_OR_RETURN(const auto table, weights.Make(row));
          std::copy(table.begin(), table.end(), out.as<AliasEntry>().begin() + edges.begin(row));
        }
        return end - begin;
      });
  return At(absl::StrCat(directory(), "/", EdgeColumnPath(schema, shard, type, column)), status);
}

absl::Status DatasetWriter::State::BuildWeights() {
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    for (int32_t e = 0; e < static_cast<int32_t>(schema.edge_types.size()); ++e) {
      if (schema.edge_types[e].weight_column.empty()) continue;
      VICINITY_RETURN_IF_ERROR(FillWeights({s}, {e}));
    }
  }
  return absl::OkStatus();
}

absl::Status DatasetWriter::State::SealFiles(proto::Manifest* manifest) {
  std::vector<proto::FileEntry*> entries;
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    proto::ShardEntry* shard = manifest->add_shards();
    for (const std::string& path : ShardPaths(schema, {s})) {
      entries.push_back(shard->add_files());
      entries.back()->set_path(path);
    }
  }
  VICINITY_RETURN_IF_ERROR(
      ForEachInParallel(entries.size(), NoProgress(), [&](int64_t i) -> absl::StatusOr<int64_t> {
        MappedOutput& file = *files.at(entries[i]->path());
        const absl::Span<char> bytes = file.bytes();
        const FileHeader header = WrittenHeader(file);
        const PageLayout layout =
            LayoutOf(static_cast<int64_t>(sizeof(header) + header.num_rows * header.row_bytes));
        entries[i]->set_pages_checksum(SealPages(layout, bytes));
        entries[i]->set_size(bytes.size());
        entries[i]->set_checksum(Checksum({bytes.data(), bytes.size()}));
        VICINITY_RETURN_IF_ERROR(file.Sync());
        return 1;
      }));
  files.clear();
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    VICINITY_RETURN_IF_ERROR(SyncDirectory(absl::StrCat(partial(), "/", ShardFolder({s}))));
  }
  return absl::OkStatus();
}

absl::Status DatasetWriter::State::Audit(const proto::Audit* expected,
                                         proto::Manifest* manifest) const {
  // The partial folder is a dataset already, but for the audit; so it is read as its readers will.
  VICINITY_RETURN_IF_ERROR(WriteManifest(partial(), *manifest));
  Dataset::Options options;
  options.check_bytes = 0;
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> written,
                            Dataset::Open(partial(), options));
  VICINITY_ASSIGN_OR_RETURN(*manifest->mutable_audit(), ComputeAudit(*written, NoProgress()));
  if (expected == nullptr) return absl::OkStatus();
  return At(directory(), CompareAudits(schema, *expected, manifest->audit()));
}

absl::StatusOr<std::unique_ptr<DatasetWriter>> DatasetWriter::Create(const std::string& directory,
                                                                     std::string name,
                                                                     Schema schema, Book book) {
  // What is written must be what can be read back.
  VICINITY_RETURN_IF_ERROR(SchemaFromProto(SchemaToProto(schema)).status());
  if (book.num_node_types() != static_cast<int32_t>(schema.node_types.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat(directory, ": the book has ", book.num_node_types(),
                     " node types, the schema ", schema.node_types.size()));
  }
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<PartialFolder> folder,
                            PartialFolder::Create(directory));
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    VICINITY_RETURN_IF_ERROR(folder->MakeFolder(ShardFolder({s})));
  }
  const size_t num_edge_types = schema.edge_types.size();
  const size_t num_shards = static_cast<size_t>(book.num_shards());
  std::unique_ptr<State> state(new State{
      std::move(folder),
      std::move(name),
      std::move(schema),
      std::move(book),
      {},
      std::vector<std::vector<int64_t>>(num_shards, std::vector<int64_t>(num_edge_types, kUnknown)),
      std::vector<uint64_t>(num_edge_types, 0)});
  return std::unique_ptr<DatasetWriter>(new DatasetWriter(std::move(state)));
}

DatasetWriter::DatasetWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

DatasetWriter::~DatasetWriter() = default;

const Schema& DatasetWriter::schema() const { return state_->schema; }
const Book& DatasetWriter::book() const { return state_->book; }

absl::StatusOr<OutputArray> DatasetWriter::Keys(ShardId shard, NodeTypeId type) {
  VICINITY_RETURN_IF_ERROR(state_->CheckNodeType(shard, type));
  return state_->NewArray(KeysPath(schema(), shard, type), FileKind::kKeys,
                          book().num_nodes(type, shard), 8);
}

absl::StatusOr<OutputArray> DatasetWriter::Column(ShardId shard, NodeTypeId type, int column) {
  VICINITY_RETURN_IF_ERROR(state_->CheckNodeType(shard, type));
  const std::vector<ColumnSpec>& columns = schema().node_types[type.value].columns;
  if (column < 0 || column >= static_cast<int>(columns.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("node type ", schema().node_types[type.value].name, ": no column ", column));
  }
  return state_->NewArray(NodeColumnPath(schema(), shard, type, column), FileKind::kColumn,
                          book().num_nodes(type, shard), columns[column].row_bytes());
}

absl::StatusOr<OutputArray> DatasetWriter::NameOffsets(ShardId shard, NodeTypeId type) {
  VICINITY_RETURN_IF_ERROR(state_->CheckNamedType(shard, type));
  return state_->NewArray(NameOffsetsPath(schema(), shard, type), FileKind::kNameOffsets,
                          book().num_nodes(type, shard) + 1, 8);
}

absl::StatusOr<OutputArray> DatasetWriter::NameBytes(ShardId shard, NodeTypeId type,
                                                     int64_t num_bytes) {
  VICINITY_RETURN_IF_ERROR(state_->CheckNamedType(shard, type));
  return state_->NewArray(NameBytesPath(schema(), shard, type), FileKind::kNameBytes, num_bytes, 1);
}

absl::StatusOr<OutputArray> DatasetWriter::Offsets(ShardId shard, EdgeTypeId type) {
  VICINITY_RETURN_IF_ERROR(state_->CheckEdgeType(shard, type));
  const NodeTypeId target_type = {schema().edge_types[type.value].target_type};
  return state_->NewArray(OffsetsPath(schema(), shard, type), FileKind::kOffsets,
                          book().num_nodes(target_type, shard) + 1, 8);
}

absl::StatusOr<OutputArray> DatasetWriter::Sources(ShardId shard, EdgeTypeId type,
                                                   int64_t num_edges) {
  VICINITY_RETURN_IF_ERROR(state_->FixNumEdges(shard, type, num_edges));
  const NodeTypeId source_type = {schema().edge_types[type.value].source_type};
  return state_->NewArray(SourcesPath(schema(), shard, type), FileKind::kSources, num_edges,
                          NodeIdBytes(source_type));
}

absl::StatusOr<OutputArray> DatasetWriter::EdgeIds(ShardId shard, EdgeTypeId type,
                                                   int64_t num_edges) {
  VICINITY_RETURN_IF_ERROR(state_->FixNumEdges(shard, type, num_edges));
  return state_->NewArray(EdgeIdsPath(schema(), shard, type), FileKind::kEdgeIds, num_edges,
                          EdgeIdBytes(type));
}

absl::StatusOr<OutputArray> DatasetWriter::EdgeColumn(ShardId shard, EdgeTypeId type, int column,
                                                      int64_t num_edges) {
  VICINITY_RETURN_IF_ERROR(state_->FixNumEdges(shard, type, num_edges));
  const std::vector<ColumnSpec>& columns = schema().edge_types[type.value].columns;
  if (column < 0 || column >= static_cast<int>(columns.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("edge type ", schema().EdgeTypeName(type.value), ": no column ", column));
  }
  return state_->NewArray(EdgeColumnPath(schema(), shard, type, column), FileKind::kColumn,
                          num_edges, columns[column].row_bytes());
}

int64_t DatasetWriter::NodeIdBytes(NodeTypeId type) const {
  return StoredNodeIdBytes(book().num_nodes(type));
}

int64_t DatasetWriter::EdgeIdBytes(EdgeTypeId type) const {
  const uint64_t bound = state_->edge_id_bounds[type.value];
  return bound > 0 && bound <= uint64_t{1} << 32 ? 4 : 8;
}

void DatasetWriter::SetEdgeIdBound(EdgeTypeId type, uint64_t bound) {
  // 0 would mean unknown; where there is no edge at all any width will do.
  state_->edge_id_bounds[type.value] = std::max<uint64_t>(bound, 1);
}

absl::Status DatasetWriter::Finish(const proto::Audit* audit, const std::string& provenance) {
  VICINITY_RETURN_IF_ERROR(state_->CheckComplete());
  VICINITY_RETURN_IF_ERROR(state_->BuildDirectories());
  VICINITY_RETURN_IF_ERROR(state_->BuildWeights());
  proto::Manifest manifest;
  manifest.set_name(state_->name);
  *manifest.mutable_schema() = SchemaToProto(schema());
  *manifest.mutable_book() = book().ToProto();
  manifest.set_provenance(provenance);
  VICINITY_RETURN_IF_ERROR(state_->SealFiles(&manifest));
  VICINITY_RETURN_IF_ERROR(state_->Audit(audit, &manifest));
  VICINITY_RETURN_IF_ERROR(WriteManifest(state_->partial(), manifest));
  return state_->folder->Publish();
}

}  // namespace vicinity

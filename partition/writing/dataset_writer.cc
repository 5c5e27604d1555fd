#include "partition/writing/dataset_writer.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/schema_proto.h"
#include "partition/dataset/shard_files.h"
#include "partition/writing/audit.h"
#include "partition/writing/directory_builder.h"
#include "partition/writing/partial_folder.h"
#include "partition/writing/sealing.h"
#include "partition/writing/weights_builder.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kUnknown = -1;

}  // namespace

struct DatasetWriter::State {
  std::unique_ptr<PartialFolder> folder;
  std::string name;
  Schema schema;
  Book book;
  OutputFiles files;
  std::vector<std::vector<int64_t>> num_edges;  // [shard][edge type], or kUnknown
  std::vector<uint64_t> edge_id_bounds;         // 0: unknown
  std::optional<proto::FoldedFrom> folded_from{};

  const std::string& directory() const { return folder->final_path(); }
  absl::Status CheckShard(ShardId shard) const;
  absl::Status CheckNodeType(ShardId shard, NodeTypeId type) const;
  absl::Status CheckRagged(ShardId shard, NodeTypeId type, int column) const;
  absl::Status CheckEdgeType(ShardId shard, EdgeTypeId type) const;
  // The edge arrays of one shard and type must all have one length.
  absl::Status FixNumEdges(ShardId shard, EdgeTypeId type, int64_t edges);
  absl::Status CheckComplete() const;
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

absl::Status DatasetWriter::State::CheckRagged(ShardId shard, NodeTypeId type, int column) const {
  VICINITY_RETURN_IF_ERROR(CheckNodeType(shard, type));
  const NodeTypeSpec& spec = schema.node_types[type.value];
  if (column == kNamesColumn) {
    if (spec.id_kind == IdKind::kString) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(directory(), ": node type ", spec.name, " has no names"));
  }
  if (column >= 0 && column < static_cast<int>(spec.ragged.size())) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(directory(), ": node type ", spec.name, ": no ragged column ", column));
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
      if (made_here.count(path) == 0 && !files.Has(path)) {
        return absl::FailedPreconditionError(
            absl::StrCat(directory(), ": ", path, " was never asked for"));
      }
    }
  }
  return absl::OkStatus();
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
  OutputFiles files(folder->partial_path());
  std::unique_ptr<State> state(new State{
      std::move(folder), std::move(name), std::move(schema), std::move(book), std::move(files),
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
  return state_->files.Add(KeysPath(schema(), shard, type), FileKind::kKeys,
                           book().num_nodes(type, shard), 8);
}

absl::StatusOr<OutputArray> DatasetWriter::Column(ShardId shard, NodeTypeId type, int column) {
  VICINITY_RETURN_IF_ERROR(state_->CheckNodeType(shard, type));
  const std::vector<ColumnSpec>& columns = schema().node_types[type.value].columns;
  if (column < 0 || column >= static_cast<int>(columns.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("node type ", schema().node_types[type.value].name, ": no column ", column));
  }
  return state_->files.Add(NodeColumnPath(schema(), shard, type, column), FileKind::kColumn,
                           book().num_nodes(type, shard), columns[column].row_bytes());
}

absl::StatusOr<OutputArray> DatasetWriter::RaggedOffsets(ShardId shard, NodeTypeId type,
                                                         int column) {
  VICINITY_RETURN_IF_ERROR(state_->CheckRagged(shard, type, column));
  return state_->files.Add(RaggedOffsetsPath(schema(), shard, type, column),
                           FileKind::kRaggedOffsets, book().num_nodes(type, shard) + 1, 8);
}

absl::StatusOr<OutputArray> DatasetWriter::RaggedBytes(ShardId shard, NodeTypeId type, int column,
                                                       int64_t num_bytes) {
  VICINITY_RETURN_IF_ERROR(state_->CheckRagged(shard, type, column));
  return state_->files.Add(RaggedBytesPath(schema(), shard, type, column), FileKind::kRaggedBytes,
                           num_bytes, 1);
}

absl::StatusOr<OutputArray> DatasetWriter::Offsets(ShardId shard, EdgeTypeId type) {
  VICINITY_RETURN_IF_ERROR(state_->CheckEdgeType(shard, type));
  const NodeTypeId target_type = {schema().edge_types[type.value].target_type};
  return state_->files.Add(OffsetsPath(schema(), shard, type), FileKind::kOffsets,
                           book().num_nodes(target_type, shard) + 1, 8);
}

absl::StatusOr<OutputArray> DatasetWriter::Sources(ShardId shard, EdgeTypeId type,
                                                   int64_t num_edges) {
  VICINITY_RETURN_IF_ERROR(state_->FixNumEdges(shard, type, num_edges));
  const NodeTypeId source_type = {schema().edge_types[type.value].source_type};
  return state_->files.Add(SourcesPath(schema(), shard, type), FileKind::kSources, num_edges,
                           NodeIdBytes(source_type));
}

absl::StatusOr<OutputArray> DatasetWriter::EdgeIds(ShardId shard, EdgeTypeId type,
                                                   int64_t num_edges) {
  VICINITY_RETURN_IF_ERROR(state_->FixNumEdges(shard, type, num_edges));
  return state_->files.Add(EdgeIdsPath(schema(), shard, type), FileKind::kEdgeIds, num_edges,
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
  return state_->files.Add(EdgeColumnPath(schema(), shard, type, column), FileKind::kColumn,
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

void DatasetWriter::SetFoldedFrom(proto::FoldedFrom folded_from) {
  state_->folded_from = std::move(folded_from);
}

absl::Status DatasetWriter::Finish(const proto::Audit* audit, const std::string& provenance) {
  const std::string& partial = state_->folder->partial_path();
  VICINITY_RETURN_IF_ERROR(state_->CheckComplete());
  VICINITY_RETURN_IF_ERROR(BuildDirectories(schema(), book(), &state_->files));
  VICINITY_RETURN_IF_ERROR(BuildWeights(schema(), book(), state_->directory(), &state_->files));
  proto::Manifest manifest;
  manifest.set_name(state_->name);
  *manifest.mutable_schema() = SchemaToProto(schema());
  *manifest.mutable_book() = book().ToProto();
  manifest.set_provenance(provenance);
  if (state_->folded_from.has_value()) *manifest.mutable_folded_from() = *state_->folded_from;
  VICINITY_RETURN_IF_ERROR(
      SealFiles(schema(), book().num_shards(), partial, &state_->files, &manifest));
  VICINITY_RETURN_IF_ERROR(AuditWritten(partial, &manifest));
  if (audit != nullptr) {
    VICINITY_RETURN_IF_ERROR(
        At(state_->directory(), CompareAudits(schema(), *audit, manifest.audit())));
  }
  VICINITY_RETURN_IF_ERROR(WriteManifest(partial, manifest));
  return state_->folder->Publish();
}

}  // namespace vicinity

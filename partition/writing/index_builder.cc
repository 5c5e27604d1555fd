#include "partition/writing/index_builder.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/column_index.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_files.h"
#include "partition/dataset/verified_file.h"
#include "partition/dataset/whole_read.h"
#include "partition/schema/schema.h"
#include "partition/writing/output_files.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "proto/common/parallel.h"
#include "proto/common/status.h"
#include "proto/manifest.pb.h"

namespace vicinity {
namespace {

// One run of one file.
struct Piece {
  DType dtype{};
  const char* values = nullptr;
  int64_t count = 0;
  char* out = nullptr;
};

class Builder {
 public:
  Builder(const Dataset& dataset, Progress* progress)
      : dataset_(dataset),
        schema_(dataset.schema()),
        progress_(progress),
        files_(dataset.directory()) {}
  // Removes what nothing lists.
  ~Builder();

  absl::Status Check(const std::vector<ColumnToIndex>& columns) const;
  bool HasIndex(const ColumnToIndex& column) const;
  // Files of all shards for one column, still empty.
  absl::Status Add(const ColumnToIndex& column);
  absl::Status Fill();
  absl::StatusOr<IndexReport> Publish();

 private:
  const std::vector<ColumnSpec>& ColumnsOf(const ColumnToIndex& column) const {
    return column.of_edges ? schema_.edge_types[column.type].columns
                           : schema_.node_types[column.type].columns;
  }
  const ColumnView& ViewOf(const Shard& shard, const ColumnToIndex& column) const {
    return column.of_edges ? shard.edges({column.type}).columns[column.column]
                           : shard.nodes({column.type}).columns[column.column];
  }
  std::string PathOf(ShardId shard, const ColumnToIndex& column) const {
    return column.of_edges ? EdgeIndexPath(schema_, shard, {column.type}, column.column)
                           : NodeIndexPath(schema_, shard, {column.type}, column.column);
  }
  std::string FullPath(const std::string& path) const {
    return absl::StrCat(dataset_.directory(), "/", path);
  }

  const Dataset& dataset_;
  const Schema& schema_;
  Progress* const progress_;
  OutputFiles files_;
  std::vector<proto::Index> indexes_;
  std::vector<Piece> pieces_;
  std::vector<VerifiedFile*> columns_;  // that are read
  bool published_ = false;
};

Builder::~Builder() {
  files_.Close();
  if (published_) return;
  std::error_code ignored;  // a file that nothing lists harms nobody
  for (const proto::Index& index : indexes_) {
    for (const proto::FileEntry& file : index.files()) {
      std::filesystem::remove(FullPath(file.path()), ignored);
    }
  }
}

absl::Status Builder::Check(const std::vector<ColumnToIndex>& columns) const {
  std::set<std::tuple<bool, int32_t, int32_t>> seen;
  for (const ColumnToIndex& column : columns) {
    const size_t num_types =
        column.of_edges ? schema_.edge_types.size() : schema_.node_types.size();
    if (column.type < 0 || static_cast<size_t>(column.type) >= num_types) {
      return absl::InvalidArgumentError(absl::StrCat("no type ", column.type, " of ", num_types));
    }
    const std::vector<ColumnSpec>& specs = ColumnsOf(column);
    if (column.column < 0 || static_cast<size_t>(column.column) >= specs.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no column ", column.column, " of ", specs.size()));
    }
    const ColumnSpec& spec = specs[column.column];
    if (spec.num_values() != 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "column ", spec.name, " has ", spec.num_values(), " values a row, an index needs one"));
    }
    if (!seen.emplace(column.of_edges, column.type, column.column).second) {
      return absl::InvalidArgumentError(absl::StrCat("column ", spec.name, " is named twice"));
    }
  }
  return absl::OkStatus();
}

bool Builder::HasIndex(const ColumnToIndex& column) const {
  const auto& indexes = dataset_.manifest().indexes();
  return std::any_of(indexes.begin(), indexes.end(), [&column](const proto::Index& index) {
    return index.of_edges() == column.of_edges && index.type() == column.type &&
           index.column() == column.column;
  });
}

absl::Status Builder::Add(const ColumnToIndex& column) {
  proto::Index& index = indexes_.emplace_back();
  index.set_type(column.type);
  index.set_of_edges(column.of_edges);
  index.set_column(column.column);
  const DType dtype = ColumnsOf(column)[column.column].dtype;
  const int64_t run_bytes = kIndexRunRows * IndexRowBytes(dtype);
  for (const std::unique_ptr<Shard>& shard : dataset_.shards()) {
    const std::string path = PathOf(shard->id(), column);
    std::error_code ignored;  // it may not be there; if it is still, the next line says so
    std::filesystem::remove(FullPath(path), ignored);
    index.add_files()->set_path(path);
    const ColumnView& view = ViewOf(*shard, column);
    VICINITY_ASSIGN_OR_RETURN(
        const OutputArray out,
        files_.Add(path, FileKind::kIndex, view.num_rows, IndexRowBytes(dtype)));
    for (int64_t first = 0; first < view.num_rows; first += kIndexRunRows) {
      pieces_.push_back({dtype, view.data + first * view.row_bytes,
                         std::min(kIndexRunRows, view.num_rows - first),
                         out.data + first / kIndexRunRows * run_bytes});
    }
    columns_.push_back(view.file);
  }
  return absl::OkStatus();
}

absl::Status Builder::Fill() {
  int64_t num_rows = 0;
  for (const Piece& piece : pieces_) num_rows += piece.count;
  return ReadWhole(columns_, progress_, [&]() -> absl::Status {
    progress_->Begin("sorting values", num_rows, "rows");
    VICINITY_RETURN_IF_ERROR(ForEachInParallel(static_cast<int64_t>(pieces_.size()), progress_,
                                               [this](int64_t i) -> absl::StatusOr<int64_t> {
                                                 const Piece& piece = pieces_[i];
                                                 MakeIndexRun(piece.dtype, piece.values,
                                                              piece.count, piece.out);
                                                 return piece.count;
                                               }));
    progress_->End();
    return absl::OkStatus();
  });
}

absl::StatusOr<IndexReport> Builder::Publish() {
  IndexReport report;
  report.num_built = static_cast<int64_t>(indexes_.size());
  proto::Manifest manifest = dataset_.manifest();
  for (proto::Index& index : indexes_) {
    for (proto::FileEntry& file : *index.mutable_files()) {
      VICINITY_RETURN_IF_ERROR(files_.Seal(file.path(), &file));
      report.num_bytes += static_cast<int64_t>(file.size());
    }
    *manifest.add_indexes() = index;
  }
  for (const std::unique_ptr<Shard>& shard : dataset_.shards()) {
    VICINITY_RETURN_IF_ERROR(SyncDirectory(FullPath(ShardFolder(shard->id()))));
  }
  VICINITY_RETURN_IF_ERROR(WriteManifest(dataset_.directory(), std::move(manifest)));
  published_ = true;
  return report;
}

}  // namespace

absl::StatusOr<IndexReport> BuildIndexes(const std::string& directory,
                                         const std::vector<ColumnToIndex>& columns,
                                         const LockWait& wait, Progress* progress) {
  // Until the manifest is written: who reads it without would forget what another adds.
  VICINITY_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(directory, wait));
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenForPasses(directory));
  if (dataset->manifest().format_version() < kFormatVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        directory, ": format version ", dataset->manifest().format_version(),
        " has no checksums of pages, without which an index is not read; `vicinity partition` "
        "writes version ",
        kFormatVersion));
  }
  Builder builder(*dataset, progress);
  VICINITY_RETURN_IF_ERROR(At(directory, builder.Check(columns)));
  IndexReport none;
  bool any = false;
  for (const ColumnToIndex& column : columns) {
    if (builder.HasIndex(column)) continue;
    VICINITY_RETURN_IF_ERROR(builder.Add(column));
    any = true;
  }
  if (!any) return none;
  VICINITY_RETURN_IF_ERROR(builder.Fill());
  return builder.Publish();
}

}  // namespace vicinity

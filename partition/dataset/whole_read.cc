#include "partition/dataset/whole_read.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/dataset/page_reader.h"
#include "partition/dataset/page_sums.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/bus_errors.h"
#include "proto/common/checksum.h"
#include "proto/common/ids.h"
#include "proto/common/parallel.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

void Add(VerifiedFile* file, std::vector<VerifiedFile*>* files) {
  if (file != nullptr) files->push_back(file);
}

// What one thread verifies at a time.
struct Piece {
  static constexpr int64_t kWholeFile = -1;  // of a file without sums

  VerifiedFile* file;
  int64_t root;

  int64_t bytes() const {
    if (root == kWholeFile) return file->size();
    const ByteRange range = file->RootRange(root);
    return range.end - range.begin;
  }
};

std::vector<Piece> PiecesOf(absl::Span<VerifiedFile* const> files) {
  std::vector<Piece> pieces;
  for (VerifiedFile* const file : files) {
    if (!file->has_sums()) pieces.push_back({file, Piece::kWholeFile});
    if (file->whole()) continue;
    for (int64_t root = 0; root < file->num_roots(); ++root) pieces.push_back({file, root});
  }
  return pieces;
}

absl::Status Verify(const Piece& piece) {
  if (piece.root != Piece::kWholeFile) return piece.file->TouchBlock(piece.root);
  const uint64_t found = Checksum(piece.file->bytes());
  if (found == piece.file->checksum()) return absl::OkStatus();
  return ChecksumMismatch(piece.file->path(), "the file", 0, found, piece.file->checksum());
}

absl::Status VerifyAll(absl::Span<VerifiedFile* const> files, Progress* progress) {
  const std::vector<Piece> pieces = PiecesOf(files);
  if (pieces.empty()) return absl::OkStatus();
  int64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes();
  progress->Begin("verifying files", bytes, "bytes");
  VICINITY_RETURN_IF_ERROR(ForEachInParallel(static_cast<int64_t>(pieces.size()), progress,
                                             [&](int64_t i) -> absl::StatusOr<int64_t> {
                                               VICINITY_RETURN_IF_ERROR(Verify(pieces[i]));
                                               return pieces[i].bytes();
                                             }));
  progress->End();
  return absl::OkStatus();
}

// Of one that has changed since it was verified.
absl::Status Changed(VerifiedFile* file) {
  VICINITY_RETURN_IF_ERROR(VerifyAll({file}, NoProgress()));  // names the page, if it is damaged
  return absl::UnavailableError(
      absl::StrCat(file->path(), ": was changed while it was read; try again"));
}

absl::Status CheckUnchanged(absl::Span<VerifiedFile* const> files,
                            const std::vector<uint64_t>& generations) {
  for (size_t i = 0; i < files.size(); ++i) {
    VICINITY_ASSIGN_OR_RETURN(const bool same, files[i]->StillAsVerified(generations[i]));
    if (!same) return Changed(files[i]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Dataset>> OpenForPasses(const std::string& directory) {
  Dataset::Options options;
  options.verify_at_touch = true;
  return Dataset::Open(directory, options);
}

std::vector<VerifiedFile*> AllFiles(const Dataset& dataset) {
  std::vector<VerifiedFile*> files;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (const std::unique_ptr<VerifiedFile>& file : shard->files()) files.push_back(file.get());
  }
  return files;
}

std::vector<VerifiedFile*> ListFiles(const Dataset& dataset) {
  const Schema& schema = dataset.schema();
  std::vector<VerifiedFile*> files;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (int32_t t = 0; t < static_cast<int32_t>(schema.node_types.size()); ++t) {
      Add(shard->nodes(NodeTypeId{t}).keys_file, &files);
    }
    for (int32_t e = 0; e < static_cast<int32_t>(schema.edge_types.size()); ++e) {
      const EdgeTable& edges = shard->edges(EdgeTypeId{e});
      Add(edges.offsets_file, &files);
      Add(edges.sources_file, &files);
      const EdgeTypeSpec& spec = schema.edge_types[e];
      const int weights = spec.weight_column.empty() ? -1 : spec.FindColumn(spec.weight_column);
      if (weights >= 0) Add(edges.columns[weights].file, &files);
    }
  }
  return files;
}

std::vector<VerifiedFile*> SplitFiles(const Dataset& dataset) {
  const Schema& schema = dataset.schema();
  std::vector<VerifiedFile*> files;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (int32_t t = 0; t < static_cast<int32_t>(schema.node_types.size()); ++t) {
      const NodeTypeSpec& spec = schema.node_types[t];
      const int splits = spec.split_column.empty() ? -1 : spec.FindColumn(spec.split_column);
      if (splits >= 0) Add(shard->nodes(NodeTypeId{t}).columns[splits].file, &files);
    }
  }
  return files;
}

absl::Status ReadWhole(absl::Span<VerifiedFile* const> files, Progress* progress,
                       const std::function<absl::Status()>& pass) {
  GuardAgainstBusErrors();
  std::vector<uint64_t> generations;
  for (const VerifiedFile* file : files) generations.push_back(file->Begin());
  VICINITY_RETURN_IF_ERROR(VerifyAll(files, progress));
  const absl::Status passed = pass();
  // First: a damaged file may be why the pass has failed.
  VICINITY_RETURN_IF_ERROR(CheckUnchanged(files, generations));
  return passed;
}

}  // namespace vicinity

#include "partition/dataset/dataset.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/schema_proto.h"
#include "partition/dataset/shard_files.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// What a manifest says is data: whatever is wrong with it, the dataset is what is damaged.
absl::Status AsDataLoss(const std::string& path, const absl::Status& status) {
  return absl::DataLossError(absl::StrCat(path, ": ", status.message()));
}

absl::Status CheckAgreement(const std::string& path, const proto::Manifest& manifest,
                            const Schema& schema, const Book& book) {
  if (book.num_node_types() != static_cast<int32_t>(schema.node_types.size())) {
    return absl::DataLossError(absl::StrCat(path, ": the book has ", book.num_node_types(),
                                            " node types, the schema ", schema.node_types.size()));
  }
  if (book.num_shards() != manifest.shards_size()) {
    return absl::DataLossError(absl::StrCat(path, ": the book has ", book.num_shards(),
                                            " shards, the manifest lists files of ",
                                            manifest.shards_size()));
  }
  return At(path, CheckIndexes(schema, manifest));
}

absl::StatusOr<std::vector<ShardId>> ShardsToOpen(const std::string& directory, const Book& book,
                                                  std::vector<ShardId> wanted) {
  if (wanted.empty()) {
    for (int32_t s = 0; s < book.num_shards(); ++s) wanted.push_back({s});
    return wanted;
  }
  for (const ShardId shard : wanted) {
    if (shard.value < 0 || shard.value >= book.num_shards()) {
      return absl::NotFoundError(
          absl::StrCat(directory, ": no shard ", shard.value, ", there are ", book.num_shards()));
    }
  }
  std::sort(wanted.begin(), wanted.end(), [](ShardId a, ShardId b) { return a.value < b.value; });
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

}  // namespace

Dataset::Dataset(std::string directory, proto::Manifest manifest, Schema schema, Book book)
    : directory_(std::move(directory)),
      manifest_(std::move(manifest)),
      schema_(std::move(schema)),
      book_(std::move(book)),
      by_id_(std::make_unique<std::atomic<const Shard*>[]>(book_.num_shards())) {
  for (int32_t s = 0; s < book_.num_shards(); ++s) by_id_[s] = nullptr;
}

absl::StatusOr<std::unique_ptr<Dataset>> Dataset::Open(const std::string& directory,
                                                       const Options& options) {
  VICINITY_ASSIGN_OR_RETURN(proto::Manifest manifest, ReadManifest(directory));
  const std::string path = ManifestPath(directory);
  absl::StatusOr<Schema> schema = SchemaFromProto(manifest.schema());
  if (!schema.ok()) return AsDataLoss(path, schema.status());
  absl::StatusOr<Book> book = Book::FromProto(manifest.book());
  if (!book.ok()) return AsDataLoss(path, book.status());
  VICINITY_RETURN_IF_ERROR(CheckAgreement(path, manifest, *schema, *book));
  if (options.grows) book = book->Growing();
  VICINITY_ASSIGN_OR_RETURN(std::vector<ShardId> shards,
                            ShardsToOpen(directory, *book, options.shards));
  std::unique_ptr<Dataset> dataset(
      new Dataset(directory, std::move(manifest), *std::move(schema), *std::move(book)));
  dataset->wanted_ = std::move(shards);
  VICINITY_RETURN_IF_ERROR(dataset->OpenAll(options));
  return dataset;
}

absl::Status Dataset::OpenAll(const Options& options) {
  const MutexLock lock(&mu_);
  absl::Status last;
  for (const ShardId id : wanted_) {
    absl::StatusOr<std::unique_ptr<Shard>> shard = OpenShard(id);
    const absl::Status checked = shard.ok() ? CheckFiles(id, options) : shard.status();
    if (checked.ok()) {
      by_id_[id.value] = shard->get();
      shards_.push_back(*std::move(shard));
      continue;
    }
    last = checked;
    if (!options.leave_out_damaged || !absl::IsDataLoss(last)) return last;
    left_out_[id.value] = last;
  }
  return shards_.empty() ? last : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Shard>> Dataset::OpenShard(ShardId id) const {
  const proto::ShardEntry& entry = manifest_.shards(id.value);
  const int expected = static_cast<int>(ShardPaths(schema_, id).size());
  if (entry.files_size() != expected) {
    return absl::DataLossError(absl::StrCat(ManifestPath(directory_), ": shard ", id.value,
                                            " lists ", entry.files_size(),
                                            " files, its schema makes ", expected));
  }
  ShardSource source;
  source.directory = directory_;
  source.format_version = manifest_.format_version();
  source.schema = &schema_;
  source.book = &book_;
  source.shard = id;
  source.entry = &entry;
  std::vector<const proto::Index*> indexes;
  for (const proto::Index& index : manifest_.indexes()) indexes.push_back(&index);
  source.indexes = indexes;
  return MapShard(source);
}

absl::Status Dataset::CheckFiles(ShardId id, const Options& options) {
  const bool touched = options.verify_at_touch && manifest_.format_version() > 1;
  for (const proto::FileEntry* const file : FilesOfShard(manifest_, id)) {
    const int64_t size = static_cast<int64_t>(file->size());
    if (touched || size > options.check_bytes - checked_bytes_) {
      unchecked_.push_back(*file);
      continue;
    }
    VICINITY_RETURN_IF_ERROR(CheckFile(directory_, *file));
    checked_bytes_ += size;
  }
  return absl::OkStatus();
}

const Shard* Dataset::shard(ShardId id) const {
  if (id.value < 0 || id.value >= book_.num_shards()) return nullptr;
  return by_id_[id.value].load(std::memory_order_acquire);
}

absl::Status Dataset::fault(ShardId id) const {
  if (const Shard* const opened = shard(id); opened != nullptr) return opened->faults().status();
  const MutexLock lock(&mu_);
  const auto found = left_out_.find(id.value);
  return found == left_out_.end() ? absl::OkStatus() : found->second;
}

absl::Status Dataset::OpenAgain(ShardId id) {
  if (shard(id) != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Shard>> opened = OpenShard(id);
  // Format version 1 has no pages to verify when they are touched.
  const bool has_sums = manifest_.format_version() > 1;
  for (const proto::FileEntry* const file : FilesOfShard(manifest_, id)) {
    if (has_sums || !opened.ok()) break;
    if (const absl::Status sound = CheckFile(directory_, *file); !sound.ok()) opened = sound;
  }
  const MutexLock lock(&mu_);
  if (!opened.ok()) {
    left_out_[id.value] = opened.status();
    return opened.status();
  }
  left_out_.erase(id.value);
  by_id_[id.value].store(opened->get(), std::memory_order_release);
  opened_again_.push_back(*std::move(opened));
  return absl::OkStatus();
}

absl::Status CheckFile(const std::string& directory, const proto::FileEntry& entry) {
  const std::string path = absl::StrCat(directory, "/", entry.path());
  RunningChecksum checksum;
  uint64_t size = 0;
  const absl::Status read = ReadInPieces(path, [&](std::string_view piece) {
    checksum.Append(piece);
    size += piece.size();
    return absl::OkStatus();
  });
  if (absl::IsNotFound(read)) {
    return absl::DataLossError(absl::StrCat(read.message(), " (the manifest lists it)"));
  }
  if (!read.ok()) return read;
  if (size != entry.size()) {
    return absl::DataLossError(
        absl::StrCat(path, ": size is ", size, " bytes, the manifest says ", entry.size()));
  }
  if (checksum.value() != entry.checksum()) {
    return absl::DataLossError(absl::StrCat(path, ": checksum is ", absl::Hex(checksum.value()),
                                            ", the manifest says ", absl::Hex(entry.checksum())));
  }
  return absl::OkStatus();
}

}  // namespace vicinity

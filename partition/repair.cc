#include "partition/repair.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset.h"
#include "partition/manifest.h"
#include "partition/shard_files.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// A file being written beside the one that it is to replace. The destructor removes it, unless it
// has taken its place.
class NewFile {
 public:
  explicit NewFile(const std::string& path)
      : path_(path), temporary_(absl::StrCat(path, ".repair.", getpid())) {}
  ~NewFile() {
    if (fd_ >= 0) close(fd_);
    if (!placed_) unlink(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  absl::Status Create() {
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return fd_ >= 0 ? absl::OkStatus() : ErrnoStatus(errno, temporary_, "create");
  }
  absl::Status Append(std::string_view bytes) {
    checksum_.Append(bytes);
    size_ += bytes.size();
    while (!bytes.empty()) {
      const ssize_t written = write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return ErrnoStatus(errno, temporary_, "write");
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }
  absl::Status Check(const proto::FileEntry& entry) const {
    if (size_ == entry.size() && checksum_.value() == entry.checksum()) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat(
        path_, ": the copy has ", size_, " bytes with checksum ", absl::Hex(checksum_.value()),
        ", the manifest says ", entry.size(), " with ", absl::Hex(entry.checksum())));
  }
  absl::Status Place() {
    if (fsync(fd_) != 0) return ErrnoStatus(errno, temporary_, "sync");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
      return ErrnoStatus(errno, path_, "rename");
    }
    placed_ = true;
    return SyncDirectory(path_.substr(0, path_.rfind('/')));
  }

 private:
  const std::string path_;
  const std::string temporary_;
  int fd_ = -1;
  RunningChecksum checksum_;
  uint64_t size_ = 0;
  bool placed_ = false;
};

absl::Status ReplaceFile(const std::string& directory, const proto::FileEntry& entry,
                         FileSource* source) {
  const std::string path = absl::StrCat(directory, "/", entry.path());
  std::error_code ignored;  // creating the file says what is wrong
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  NewFile file(path);
  VICINITY_RETURN_IF_ERROR(file.Create());
  VICINITY_RETURN_IF_ERROR(
      source->Read(entry, [&file](std::string_view bytes) { return file.Append(bytes); }));
  VICINITY_RETURN_IF_ERROR(file.Check(entry));
  return file.Place();
}

absl::StatusOr<std::vector<ShardId>> ShardsHere(const std::string& directory,
                                                const proto::Manifest& manifest,
                                                std::vector<ShardId> wanted) {
  for (const ShardId shard : wanted) {
    if (shard.value >= 0 && shard.value < manifest.shards_size()) continue;
    return absl::NotFoundError(absl::StrCat(directory, ": no shard ", shard.value, ", there are ",
                                            manifest.shards_size()));
  }
  if (!wanted.empty()) return wanted;
  for (int32_t s = 0; s < manifest.shards_size(); ++s) {
    if (std::filesystem::exists(absl::StrCat(directory, "/", ShardFolder({s})))) {
      wanted.push_back({s});
    }
  }
  return wanted;
}

// Of these shards, and of the rankings that lie in their folders.
std::vector<const proto::FileEntry*> FilesOf(const proto::Manifest& manifest,
                                             const std::vector<ShardId>& shards) {
  std::vector<const proto::FileEntry*> files;
  for (const ShardId shard : shards) {
    for (const auto& file : manifest.shards(shard.value).files()) files.push_back(&file);
    const std::string folder = absl::StrCat(ShardFolder(shard), "/");
    for (const proto::Ranking& ranking : manifest.rankings()) {
      for (const proto::FileEntry& file : ranking.files()) {
        if (absl::StartsWith(file.path(), folder)) files.push_back(&file);
      }
    }
  }
  return files;
}

}  // namespace

absl::Status DirectorySource::Read(const proto::FileEntry& file, const Take& take) {
  return ReadInPieces(absl::StrCat(directory_, "/", file.path()), take);
}

absl::StatusOr<RepairReport> RepairDataset(const std::string& directory,
                                           std::vector<ShardId> shards, FileSource* source,
                                           bool dry_run, Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifest(directory));
  VICINITY_ASSIGN_OR_RETURN(shards, ShardsHere(directory, manifest, std::move(shards)));
  const std::vector<const proto::FileEntry*> files = FilesOf(manifest, shards);
  RepairReport report;
  for (const proto::FileEntry* file : files) report.num_bytes += static_cast<int64_t>(file->size());
  report.num_files = static_cast<int64_t>(files.size());
  progress->Begin("checking files", report.num_bytes, "bytes");
  int64_t done = 0;
  for (const proto::FileEntry* file : files) {
    const absl::Status found = CheckFile(directory, *file);
    done += static_cast<int64_t>(file->size());
    progress->Update(done);
    if (found.ok()) continue;
    report.damaged.push_back({file->path(), std::string(found.message())});
    if (!dry_run) VICINITY_RETURN_IF_ERROR(ReplaceFile(directory, *file, source));
  }
  progress->End();
  return report;
}

}  // namespace vicinity

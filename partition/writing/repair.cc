#include "partition/writing/repair.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/shard_files.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/open_file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// A file being written beside the one that it is to replace. The destructor removes it, unless it
// has taken its place.
class NewFile {
 public:
  static absl::StatusOr<std::unique_ptr<NewFile>> Create(const std::string& path) {
    const std::string temporary = absl::StrCat(path, ".repair.", getpid());
    // What lies there is of a process that was killed, or a link that somebody planted.
    unlink(temporary.c_str());
    Descriptor fd = OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL);
    if (!fd.ok()) return ErrnoStatus(errno, temporary, "create");
    return std::unique_ptr<NewFile>(new NewFile(path, temporary, std::move(fd)));
  }
  ~NewFile() {
    if (!placed_) unlink(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  absl::Status Append(std::string_view bytes) {
    checksum_.Append(bytes);
    size_ += bytes.size();
    while (!bytes.empty()) {
      const ssize_t written = write(fd_.get(), bytes.data(), bytes.size());
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
    if (fsync(fd_.get()) != 0) return ErrnoStatus(errno, temporary_, "sync");
    if (fd_.Close() != 0) return ErrnoStatus(errno, temporary_, "close");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
      return ErrnoStatus(errno, path_, "rename");
    }
    placed_ = true;
    return SyncDirectory(path_.substr(0, path_.rfind('/')));
  }

 private:
  NewFile(std::string path, std::string temporary, Descriptor fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

  const std::string path_;
  const std::string temporary_;
  Descriptor fd_;
  RunningChecksum checksum_;
  uint64_t size_ = 0;
  bool placed_ = false;
};

// `took`: is told of every piece.
absl::Status ReplaceFile(const std::string& directory, const proto::FileEntry& entry,
                         FileSource* source, const std::function<void(size_t)>& took) {
  const std::string path = absl::StrCat(directory, "/", entry.path());
  std::error_code ignored;  // creating the file says what is wrong
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<NewFile> file, NewFile::Create(path));
  VICINITY_RETURN_IF_ERROR(source->Read(entry, [&](std::string_view bytes) {
    took(bytes.size());
    return file->Append(bytes);
  }));
  VICINITY_RETURN_IF_ERROR(file->Check(entry));
  return file->Place();
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
std::vector<proto::FileEntry> FilesOf(const proto::Manifest& manifest,
                                      const std::vector<ShardId>& shards) {
  std::vector<proto::FileEntry> files;
  for (const ShardId shard : shards) {
    for (const proto::FileEntry* file : FilesOfShard(manifest, shard)) files.push_back(*file);
    const std::string folder = absl::StrCat(ShardFolder(shard), "/");
    for (const proto::Ranking& ranking : manifest.rankings()) {
      for (const proto::FileEntry& file : ranking.files()) {
        if (absl::StartsWith(file.path(), folder)) files.push_back(file);
      }
    }
  }
  return files;
}

// Those that are not what the manifest says, and why.
struct Damaged {
  std::vector<proto::FileEntry> files;
  std::vector<RepairReport::File> report;  // the same ones
};

Damaged FindDamaged(const std::string& directory, const std::vector<proto::FileEntry>& files,
                    Progress* progress) {
  Damaged damaged;
  int64_t done = 0;
  for (const proto::FileEntry& file : files) {
    const absl::Status found = CheckFile(directory, file);
    done += static_cast<int64_t>(file.size());
    progress->Update(done);
    if (found.ok()) continue;
    damaged.files.push_back(file);
    damaged.report.push_back({file.path(), std::string(found.message())});
  }
  return damaged;
}

// Of `files`, those that the manifest lists now: a ranking may have been replaced meanwhile.
std::vector<proto::FileEntry> StillListed(const proto::Manifest& manifest,
                                          const std::vector<ShardId>& shards,
                                          const std::vector<proto::FileEntry>& files) {
  std::vector<proto::FileEntry> listed;
  for (const proto::FileEntry& now : FilesOf(manifest, shards)) {
    const bool wanted = std::any_of(files.begin(), files.end(), [&](const proto::FileEntry& file) {
      return file.path() == now.path();
    });
    if (wanted) listed.push_back(now);
  }
  return listed;
}

// With the writers' lock held.
absl::StatusOr<std::vector<RepairReport::File>> ReplaceDamaged(
    const std::string& directory, const std::vector<ShardId>& shards,
    const std::vector<proto::FileEntry>& files, FileSource* source, Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifestToRepair(directory));
  VICINITY_RETURN_IF_ERROR(ShardsHere(directory, manifest, shards).status());
  const Damaged damaged =
      FindDamaged(directory, StillListed(manifest, shards, files), NoProgress());
  int64_t all = 0;
  for (const proto::FileEntry& file : damaged.files) all += static_cast<int64_t>(file.size());
  progress->Begin("fetching files", all, "bytes");
  int64_t done = 0;
  for (const proto::FileEntry& file : damaged.files) {
    VICINITY_RETURN_IF_ERROR(ReplaceFile(directory, file, source, [&](size_t bytes) {
      progress->Update(done += static_cast<int64_t>(bytes));
    }));
  }
  progress->End();
  return damaged.report;
}

}  // namespace

absl::Status DirectorySource::Read(const proto::FileEntry& file, const Take& take) {
  return ReadInPieces(absl::StrCat(directory_, "/", file.path()), take);
}

absl::StatusOr<proto::Manifest> ReadManifestToRepair(const std::string& directory) {
  absl::StatusOr<proto::Manifest> manifest = ReadManifest(directory);
  if (!absl::IsDataLoss(manifest.status())) return manifest;
  return absl::DataLossError(
      absl::StrCat(manifest.status().message(),
                   ": a manifest cannot be repaired, copy it from a replica's directory first"));
}

absl::StatusOr<RepairReport> RepairDataset(const std::string& directory,
                                           const RepairOptions& options, FileSource* source,
                                           Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifestToRepair(directory));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ShardId> shards,
                            ShardsHere(directory, manifest, options.shards));
  const std::vector<proto::FileEntry> files = FilesOf(manifest, shards);
  RepairReport report;
  for (const proto::FileEntry& file : files) report.num_bytes += static_cast<int64_t>(file.size());
  report.num_files = static_cast<int64_t>(files.size());
  progress->Begin("checking files", report.num_bytes, "bytes");
  Damaged damaged = FindDamaged(directory, files, progress);
  progress->End();
  report.damaged = std::move(damaged.report);
  if (report.damaged.empty() || options.dry_run) return report;
  VICINITY_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(directory, options.wait));
  VICINITY_ASSIGN_OR_RETURN(report.damaged,
                            ReplaceDamaged(directory, shards, damaged.files, source, progress));
  return report;
}

}  // namespace vicinity

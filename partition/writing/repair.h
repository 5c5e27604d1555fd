// Puts sound copies in the place of a dataset's damaged files, while it may be served.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/common/folder_lock.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/manifest.pb.h"

namespace vicinity {

// Where copies come from: a replica's directory, or a replica's server.
class FileSource {
 public:
  using Take = std::function<absl::Status(std::string_view bytes)>;

  virtual ~FileSource() = default;
  // Hands `take` the whole file, in order. What comes is checked by whoever asks.
  virtual absl::Status Read(const proto::FileEntry& file, const Take& take) = 0;
};

// Another directory with the same dataset.
class DirectorySource final : public FileSource {
 public:
  explicit DirectorySource(std::string directory) : directory_(std::move(directory)) {}
  absl::Status Read(const proto::FileEntry& file, const Take& take) override;

 private:
  const std::string directory_;
};

struct RepairReport {
  struct File {
    std::string path;   // in the dataset
    std::string fault;  // what was wrong with it
  };
  int64_t num_files = 0;  // that were read
  int64_t num_bytes = 0;
  std::vector<File> damaged;  // and, but for a dry run, repaired
};

struct RepairOptions {
  std::vector<ShardId> shards;  // none: those whose folders are there
  bool dry_run = false;         // replaces nothing, and takes no lock
  LockWait wait;                // for another writer of the dataset
};

// Reads all files of the shards and of their rankings, and replaces each that is not what the
// manifest says: written beside it, checked, synced, renamed. So every file is the old one or a
// sound one at any time; a server takes the new one up by itself.
//
// Files are read without the writers' lock (proto/common/folder_lock.h), since that takes as long
// as the disk needs for all of them. It is taken where something is damaged: then what is damaged
// still, by the manifest as it is then, is replaced. So two repairs, or a repair and `rank`, do not
// undo each other's work.
//
// Errors: what ReadManifestToRepair says; NotFound for a shard that does not exist;
// FailedPrecondition naming who holds the lock; what `source` says, or DataLoss if its copy is no
// better, with the file's name: files repaired before that stay so.
// Memory: 1 MiB, and what `source` takes.
absl::StatusOr<RepairReport> RepairDataset(const std::string& directory,
                                           const RepairOptions& options, FileSource* source,
                                           Progress* progress);

// Errors as ReadManifest; DataLoss says that the manifest has to be copied first: a replica's is
// the measure of all copies, so nothing can tell whether a fetched one is right.
absl::StatusOr<proto::Manifest> ReadManifestToRepair(const std::string& directory);

}  // namespace vicinity

#include "client/backup/live_backup.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "client/backup/change_pull.h"
#include "client/backup/named_nodes.h"
#include "client/backup/repeated_shard.h"
#include "client/shards/call_context.h"
#include "client/shards/pinned_shards.h"
#include "partition/overlay/change_file.h"
#include "partition/overlay/failpoint.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "proto/common/folder_lock.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "proto/live.pb.h"

namespace vicinity {
namespace {

std::string FileOf(const std::string& folder, int32_t shard) {
  return absl::StrCat(folder, absl::StrFormat("/shard-%05d.changes", shard));
}

absl::StatusOr<FolderLock> LockFolder(const std::string& folder) {
  std::error_code made;
  std::filesystem::create_directories(folder, made);
  if (made) return absl::UnavailableError(absl::StrCat(folder, ": ", made.message()));
  LockWait no_wait;
  no_wait.limit = absl::ZeroDuration();
  return FolderLock::Take(folder, no_wait);
}

// What there is of a backup in a folder that has changes of shard 0.
absl::StatusOr<KeptBackup> DescribeBackup(const std::string& folder) {
  VICINITY_ASSIGN_OR_RETURN(const std::string identity, ReadChangeFileIdentity(FileOf(folder, 0)));
  KeptBackup backup;
  backup.folder = folder;
  backup.changed = absl::InfinitePast();
  // "shard 0 of 4 of dataset 0123456789abcdef" (partition/overlay/live_base.h)
  const std::vector<std::string> words = absl::StrSplit(identity, ' ');
  if (words.size() != 7 || !absl::SimpleAtoi(words[3], &backup.num_shards)) {
    return absl::DataLossError(absl::StrCat(FileOf(folder, 0), ": these are changes of \"",
                                            absl::CHexEscape(identity), "\", which is no shard"));
  }
  backup.of = absl::StrCat(words[5], " ", words[6]);
  for (int32_t shard = 0; shard < backup.num_shards; ++shard) {
    struct stat file {};
    if (stat(FileOf(folder, shard).c_str(), &file) != 0) continue;
    ++backup.num_kept;
    backup.bytes += file.st_size;
    backup.changed = std::max(backup.changed, absl::TimeFromTimespec(file.st_mtim));
  }
  return backup;
}

// Brings the files of all shards up to versions that fit together.
class Keeper {
 public:
  Keeper(const ShardRouter& router, std::vector<ShardVersion> now, std::vector<ShardVersion> then,
         Progress* progress)
      : router_(router),
        now_(std::move(now)),
        then_(std::move(then)),
        named_(router.schema(), router.book(), now_, then_),
        progress_(progress) {}

  absl::StatusOr<std::vector<KeptShard>> Keep(const std::string& folder, uint64_t fingerprint) {
    for (size_t s = 0; s < now_.size(); ++s) {
      VICINITY_RETURN_IF_ERROR(KeepShard({static_cast<int32_t>(s)}, folder, fingerprint));
    }
    VICINITY_RETURN_IF_ERROR(KeepNamed());
    for (size_t s = 0; s < files_.size(); ++s) {
      kept_[s].added += files_[s]->last_version() - kept_[s].version;
      kept_[s].version = files_[s]->last_version();
      kept_[s].bytes = files_[s]->bytes();
    }
    return std::move(kept_);
  }

 private:
  absl::Status KeepShard(ShardId shard, const std::string& folder, uint64_t fingerprint) {
    const uint64_t until = now_[shard.value].version;
    const std::string path = FileOf(folder, shard.value);
    VICINITY_ASSIGN_OR_RETURN(
        files_.emplace_back(),
        ChangeFile::Open(path,
                         IdentityOfShard(shard.value, router_.book().num_shards(), fingerprint)));
    const uint64_t before = files_.back()->last_version();
    const uint64_t term = files_.back()->last_term();
    if (before > until || (before == until && term != now_[shard.value].term)) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, " has version ", before, " of term ", term, ", the shard ", until, " of term ",
          now_[shard.value].term, ": it was set back, and goes to a folder of its own"));
    }
    progress_->Begin(absl::StrCat("keeping shard ", shard.value), static_cast<int64_t>(until),
                     "versions");
    VICINITY_RETURN_IF_ERROR(Follow(shard, until));
    VICINITY_RETURN_IF_ERROR(files_.back()->Sync());
    Pass(Failpoint::kBackupShardKept);
    progress_->End();
    kept_.push_back({shard.value, until, until - before, 0, false});
    return absl::OkStatus();
  }

  // Nodes that were added after their shard was asked for its version and before an edge from them.
  absl::Status KeepNamed() {
    for (bool more = true; more;) {
      more = false;
      for (size_t s = 0; s < files_.size(); ++s) {
        const ShardId shard{static_cast<int32_t>(s)};
        if (!named_.Lacks(shard) || files_[s]->last_version() >= then_[s].version) continue;
        VICINITY_RETURN_IF_ERROR(Follow(shard, files_[s]->last_version() + 1));
        VICINITY_RETURN_IF_ERROR(files_[s]->Sync());
        more = true;
      }
    }
    return absl::OkStatus();
  }

  // Appends versions until the shard's file has `until`.
  absl::Status Follow(ShardId shard, uint64_t until) {
    ChangeFile& file = *files_[shard.value];
    return PullChanges(router_, shard, file.last_version(), file.last_term(), until, Reach::kKnown,
                       [&](const proto::Change& change) {
                         named_.Note(shard, change);
                         progress_->Update(static_cast<int64_t>(change.version()));
                         return file.Append(change);
                       });
  }

  const ShardRouter& router_;
  const std::vector<ShardVersion> now_;
  const std::vector<ShardVersion> then_;
  NamedNodes named_;
  Progress* const progress_;
  std::vector<std::unique_ptr<ChangeFile>> files_;  // by shard
  std::vector<KeptShard> kept_;
};

}  // namespace

absl::StatusOr<std::vector<KeptShard>> KeepChanges(const ShardRouter& router, uint64_t fingerprint,
                                                   const std::string& folder, Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(const FolderLock lock, LockFolder(folder));
  VICINITY_ASSIGN_OR_RETURN(std::vector<ShardVersion> now, ReadVersions(router, StartOperation()));
  // Asked when those have been answered: all that their edges may name was committed by then.
  VICINITY_ASSIGN_OR_RETURN(std::vector<ShardVersion> then, ReadVersions(router, StartOperation()));
  return Keeper(router, std::move(now), std::move(then), progress).Keep(folder, fingerprint);
}

absl::StatusOr<std::vector<KeptBackup>> ListBackups(const std::string& folder) {
  std::vector<std::string> folders = {folder};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    folders.push_back(entry.path().string());
  }
  std::sort(folders.begin() + 1, folders.end());
  std::vector<KeptBackup> backups;
  for (const std::string& each : folders) {
    if (!std::filesystem::exists(FileOf(each, 0), error)) continue;
    VICINITY_ASSIGN_OR_RETURN(backups.emplace_back(), DescribeBackup(each));
  }
  if (!backups.empty()) return backups;
  return absl::NotFoundError(
      absl::StrCat(folder, ": neither it nor a folder in it has a backup of changes"));
}

absl::StatusOr<std::vector<KeptShard>> CheckKept(const std::string& folder, Progress* progress) {
  std::vector<KeptShard> kept;
  for (int32_t shard = 0; std::filesystem::exists(FileOf(folder, shard)); ++shard) {
    progress->Begin(absl::StrCat("reading shard ", shard), 0, "versions");
    VICINITY_ASSIGN_OR_RETURN(const ChangeFileFacts facts,
                              ReadChangeFile(FileOf(folder, shard), [&](proto::Change change) {
                                progress->Update(static_cast<int64_t>(change.version()));
                                return absl::OkStatus();
                              }));
    progress->End();
    kept.push_back({shard, facts.last_version, 0, facts.bytes, facts.half_written});
  }
  if (!kept.empty()) return kept;
  return absl::NotFoundError(
      absl::StrCat(FileOf(folder, 0), ": no such file: no backup of changes"));
}

absl::StatusOr<std::vector<KeptShard>> RestoreChanges(const std::string& folder,
                                                      const Dataset& dataset,
                                                      const std::string& changes,
                                                      Progress* progress) {
  LiveDatasetOptions options;
  options.cache_bytes = 0;
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<LiveDataset> live,
                            LiveDataset::Open(dataset, changes, options));
  std::vector<KeptShard> kept;
  for (const ShardId id : dataset.wanted()) {
    VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> shard, live->Find(id));
    const std::string expected =
        IdentityOfShard(id.value, dataset.book().num_shards(), dataset.fingerprint());
    RepeatedShard repeated(id, shard, changes);
    progress->Begin(absl::StrCat("restoring shard ", id.value), 0, "versions");
    const auto repeat = [&](proto::Change change) {
      progress->Update(static_cast<int64_t>(change.version()));
      if (change.version() > repeated.before()) Pass(Failpoint::kRestoreRepeating);
      return repeated.Take(std::move(change));
    };
    const std::string path = FileOf(folder, id.value);
    // What it is of is known before anything is made of it.
    VICINITY_ASSIGN_OR_RETURN(const std::string identity, ReadChangeFileIdentity(path));
    if (identity != expected) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": these are changes of ", identity, ", and not of ", expected));
    }
    VICINITY_ASSIGN_OR_RETURN(const ChangeFileFacts facts, ReadChangeFile(path, repeat));
    VICINITY_RETURN_IF_ERROR(repeated.CheckReaches(facts.last_version));
    VICINITY_RETURN_IF_ERROR(shard->Sync());
    Pass(Failpoint::kRestoreShardSynced);
    progress->End();
    kept.push_back({id.value, shard->version(), shard->version() - repeated.before(), facts.bytes,
                    facts.half_written});
  }
  return kept;
}

}  // namespace vicinity

#include "client/backup/live_backup.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/shards/call_context.h"
#include "client/shards/fan_out.h"
#include "client/shards/pinned_shards.h"
#include "client/shards/shard_requests.h"
#include "partition/overlay/change_file.h"
#include "partition/overlay/failpoint.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "proto/common/folder_lock.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "proto/limits.h"
#include "proto/live.pb.h"

namespace vicinity {
namespace {

// A page of changes: more of them next time while it is smaller, fewer when it is larger.
constexpr int64_t kPageBytes = int64_t{8} << 20;
constexpr uint64_t kFirstPage = 8;
constexpr absl::Duration kLongestCommit = absl::Minutes(1);

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

absl::StatusOr<std::vector<proto::Change>> ReadPage(const ShardRouter& router, ShardId shard,
                                                    const LogPosition& after, uint64_t count) {
  std::vector<proto::Change> changes;
  FanOut calls;
  router.shard(shard).Ask(ShardChanges{after.version, after.term, count, &changes},
                          StartOperation(), calls.Add());
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  if (!changes.empty()) return changes;
  return absl::DataLossError(
      absl::StrCat("shard ", shard.value, " has no version ", after.version + 1, " any more"));
}

// Appends versions until the file has `until`.
absl::Status Follow(const ShardRouter& router, ShardId shard, uint64_t until, ChangeFile* file,
                    Progress* progress) {
  uint64_t page = kFirstPage;
  while (file->last_version() < until) {
    const uint64_t left = until - file->last_version();
    const LogPosition after = {file->last_version(), file->last_term()};
    VICINITY_ASSIGN_OR_RETURN(const std::vector<proto::Change> changes,
                              ReadPage(router, shard, after, std::min(page, left)));
    const int64_t before = file->bytes();
    for (const proto::Change& change : changes) VICINITY_RETURN_IF_ERROR(file->Append(change));
    const int64_t bytes = file->bytes() - before;
    page = bytes > 2 * kPageBytes ? std::max<uint64_t>(page / 2, 1)
           : bytes < kPageBytes   ? std::min<uint64_t>(2 * page, kMaxRequestChanges)
                                  : page;
    progress->Update(static_cast<int64_t>(file->last_version()));
  }
  return file->Sync();
}

absl::Status IsNoRestore(ShardId shard, const std::string& changes) {
  return absl::FailedPreconditionError(
      absl::StrCat(changes, ": what was written to shard ", shard.value,
                   " there is not what the backup has: restore to a folder of its own"));
}

// Whether a restore that was cut off has come so far. A writer's session is random, and has this
// number once.
absl::Status CheckIsThere(ShardId id, const LiveShard& shard, const proto::Change& change,
                          const std::string& changes) {
  VICINITY_ASSIGN_OR_RETURN(const proto::Change there, shard.ReadChange(change.version()));
  const bool same = there.session().id() == change.session().id() &&
                    there.session().sequence() == change.session().sequence() &&
                    there.unix_micros() == change.unix_micros();
  return same ? absl::OkStatus() : IsNoRestore(id, changes);
}

}  // namespace

absl::StatusOr<std::vector<KeptShard>> KeepChanges(const ShardRouter& router, uint64_t fingerprint,
                                                   const std::string& folder, Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(const FolderLock lock, LockFolder(folder));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ShardVersion> now,
                            ReadVersions(router, StartOperation()));
  std::vector<KeptShard> kept;
  for (size_t s = 0; s < now.size(); ++s) {
    const auto shard = static_cast<int32_t>(s);
    VICINITY_ASSIGN_OR_RETURN(
        const std::unique_ptr<ChangeFile> file,
        ChangeFile::Open(FileOf(folder, shard),
                         IdentityOfShard(shard, router.book().num_shards(), fingerprint)));
    if (file->last_version() > now[s].version ||
        (file->last_version() == now[s].version && file->last_term() != now[s].term)) {
      return absl::FailedPreconditionError(
          absl::StrCat(FileOf(folder, shard), " has version ", file->last_version(), " of term ",
                       file->last_term(), ", the shard ", now[s].version, " of term ", now[s].term,
                       ": it was set back, and goes to a folder of its own"));
    }
    const uint64_t before = file->last_version();
    progress->Begin(absl::StrCat("keeping shard ", shard), static_cast<int64_t>(now[s].version),
                    "versions");
    VICINITY_RETURN_IF_ERROR(Follow(router, {shard}, now[s].version, file.get(), progress));
    Pass(Failpoint::kBackupShardKept);
    progress->End();
    kept.push_back(
        {shard, file->last_version(), file->last_version() - before, file->bytes(), false});
  }
  return kept;
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
    const uint64_t before = shard->version();
    progress->Begin(absl::StrCat("restoring shard ", id.value), 0, "versions");
    const auto repeat = [&](proto::Change change) -> absl::Status {
      if (change.version() < before) return absl::OkStatus();
      if (change.version() == before) return CheckIsThere(id, *shard, change, changes);
      progress->Update(static_cast<int64_t>(change.version()));
      Pass(Failpoint::kRestoreRepeating);
      return shard->Repeat(std::move(change), Durability::kBuffered, absl::Now() + kLongestCommit);
    };
    const std::string path = FileOf(folder, id.value);
    // What it is of is known before anything is made of it.
    VICINITY_ASSIGN_OR_RETURN(const std::string identity, ReadChangeFileIdentity(path));
    if (identity != expected) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": these are changes of ", identity, ", and not of ", expected));
    }
    VICINITY_ASSIGN_OR_RETURN(const ChangeFileFacts facts, ReadChangeFile(path, repeat));
    if (before > facts.last_version) return IsNoRestore(id, changes);
    VICINITY_RETURN_IF_ERROR(shard->Sync());
    Pass(Failpoint::kRestoreShardSynced);
    progress->End();
    kept.push_back(
        {id.value, shard->version(), shard->version() - before, facts.bytes, facts.half_written});
  }
  return kept;
}

}  // namespace vicinity

#include "partition/overlay/live_dataset.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "partition/overlay/disk_reserve.h"
#include "partition/overlay/disk_room.h"
#include "partition/overlay/failpoint.h"
#include "partition/overlay/live_base.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

LiveShardOptions OptionsFor(const LiveDatasetOptions& options, int64_t num_shards) {
  const int64_t each = options.cache_bytes / (3 * std::max<int64_t>(num_shards, 1));
  LiveShardOptions of_shard;
  of_shard.store.cache_bytes = each;
  of_shard.row_cache_bytes = each;
  of_shard.list_cache_bytes = each;
  of_shard.least_free_bytes = options.least_free_bytes;
  return of_shard;
}

std::string ReserveOf(const Dataset& dataset, const std::string& folder) {
  const int32_t first = dataset.shards().empty() ? 0 : dataset.shards().front()->id().value;
  return absl::StrCat(folder, absl::StrFormat("/reserve-%05d", first));
}

// To changes: what is to become the reserve again is not free.
absl::StatusOr<int64_t> FreeBytes(const DiskReserve& reserve, const std::string& folder) {
  VICINITY_ASSIGN_OR_RETURN(const int64_t free, FreeBytesOf(folder));
  return free - reserve.missing_bytes();
}

// The number is the first that no other has.
absl::Status SetAside(const std::string& folder) {
  constexpr int kMost = 1000;
  for (int i = 1; i <= kMost; ++i) {
    const std::string aside = absl::StrCat(folder, ".aside-", i);
    std::error_code failed;
    if (std::filesystem::exists(aside, failed)) continue;
    std::filesystem::rename(folder, aside, failed);
    if (failed) return absl::UnavailableError(absl::StrCat(folder, ": ", failed.message()));
    Pass(Failpoint::kShardSetAside);
    return SyncDirectory(std::filesystem::path(folder).parent_path().string());
  }
  return absl::ResourceExhaustedError(
      absl::StrCat(folder, ": ", kMost, " folders beside it have changes that were set aside"));
}

}  // namespace

LiveDataset::LiveDataset(const Dataset& dataset, std::string folder,
                         const LiveDatasetOptions& options)
    : dataset_(dataset),
      folder_(std::move(folder)),
      of_shard_(OptionsFor(options, static_cast<int64_t>(dataset.shards().size()))),
      servers_(options.servers),
      reserve_(std::make_shared<DiskReserve>(ReserveOf(dataset, folder_), options.reserve_bytes)) {}

absl::StatusOr<std::unique_ptr<LiveDataset>> LiveDataset::Open(const Dataset& dataset,
                                                               const std::string& folder,
                                                               const LiveDatasetOptions& options) {
  std::error_code made;
  std::filesystem::create_directories(folder, made);
  if (made) return absl::UnavailableError(absl::StrCat(folder, ": ", made.message()));
  std::unique_ptr<LiveDataset> live(new LiveDataset(dataset, folder, options));
  MutexLock lock(&live->mu_);
  bool any = false;
  absl::Status first;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    Opened opened = live->OpenShard(*shard);
    any = any || opened.ok();
    first.Update(opened.status());
    live->shards_.emplace(shard->id().value, std::move(opened));
  }
  if (!any && !first.ok()) return first;
  for (const ShardId id : dataset.wanted()) {
    live->shards_.emplace(id.value, absl::UnavailableError(absl::StrCat(
                                        "shard ", id.value,
                                        ": its files were damaged when the server started; start "
                                        "the server again now that they are whole")));
  }
  const auto free = FreeBytes(*live->reserve_, folder);
  if (free.ok() && *free >= options.reserve_bytes) live->reserve_->Make().IgnoreError();
  return live;
}

std::string LiveDataset::FolderOf(ShardId id) const {
  return absl::StrCat(folder_, absl::StrFormat("/shard-%05d", id.value));
}

LiveDataset::Opened LiveDataset::OpenShard(const Shard& shard) const {
  const LiveBase base{dataset_.schema(), dataset_.book(), shard, dataset_.fingerprint()};
  LiveShardOptions options = of_shard_;
  if (servers_ != nullptr) options.servers = servers_(shard.id());
  options.store.on_full = [reserve = reserve_] { reserve->GiveUp(); };
  options.free_bytes = [reserve = reserve_, folder = folder_] {
    return FreeBytes(*reserve, folder);
  };
  Opened opened = LiveShard::Open(base, FolderOf(shard.id()), options);
  // What an earlier process kept may be what opening wants.
  if (opened.ok() || !absl::IsResourceExhausted(opened.status())) return opened;
  if (!reserve_->GiveUp()) return opened;
  return LiveShard::Open(base, FolderOf(shard.id()), options);
}

absl::StatusOr<std::shared_ptr<LiveShard>> LiveDataset::Find(ShardId id) const {
  MutexLock lock(&mu_);
  const auto found = shards_.find(id.value);
  if (found != shards_.end()) return found->second;
  return absl::FailedPreconditionError(absl::StrCat("shard ", id.value, " is not written here"));
}

absl::Status LiveDataset::StartOver(ShardId id, const WriterTerm& writer, absl::Time until) {
  const Shard* const files = dataset_.shard(id);
  const absl::Status copied_anew = absl::UnavailableError(
      absl::StrCat("shard ", id.value, ": its changes are being copied anew from server \"",
                   writer.writer, "\""));
  MutexLock lock(&mu_);
  const auto found = shards_.find(id.value);
  if (files == nullptr || found == shards_.end()) {
    return absl::FailedPreconditionError(absl::StrCat("shard ", id.value, " is not written here"));
  }
  Leaving& leaving = leaving_[id.value];
  if (found->second.ok()) leaving.shard = *std::exchange(found->second, copied_anew);
  while (leaving.shard.use_count() > 1) {
    if (absl::Now() >= until) return copied_anew;
    mu_.Unlock();
    absl::SleepFor(absl::Milliseconds(5));
    mu_.Lock();
  }
  if (leaving.shard != nullptr) leaving.closed_for = leaving.shard->closed_for();
  leaving.shard.reset();  // the last one: its store is closed
  VICINITY_RETURN_IF_ERROR(SetAside(FolderOf(id)));
  Opened anew = OpenShard(*files);
  absl::Status ready = anew.status();
  if (ready.ok()) ready = (*anew)->Appoint(writer);
  // Whoever has it closed counts on that, whatever its log is.
  if (ready.ok()) ready = (*anew)->Close(leaving.closed_for);
  if (!ready.ok()) {
    found->second = ready;  // nobody has had it: it is set aside with the next try
    return ready;
  }
  found->second = std::move(anew);
  leaving_.erase(id.value);
  return absl::OkStatus();
}

}  // namespace vicinity

#include "partition/overlay/live_dataset.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "partition/overlay/live_base.h"
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

}  // namespace

absl::StatusOr<std::unique_ptr<LiveDataset>> LiveDataset::Open(const Dataset& dataset,
                                                               const std::string& folder,
                                                               const LiveDatasetOptions& options) {
  std::error_code made;
  std::filesystem::create_directories(folder, made);
  if (made) return absl::UnavailableError(absl::StrCat(folder, ": ", made.message()));
  std::unique_ptr<LiveDataset> live(new LiveDataset(folder));
  const LiveShardOptions of_shard =
      OptionsFor(options, static_cast<int64_t>(dataset.shards().size()));
  bool any = false;
  absl::Status first;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    const LiveBase base{dataset.schema(), dataset.book(), *shard, dataset.fingerprint()};
    auto opened = LiveShard::Open(
        base, absl::StrCat(folder, absl::StrFormat("/shard-%05d", shard->id().value)), of_shard);
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
  return live;
}

absl::StatusOr<LiveShard*> LiveDataset::Find(ShardId id) const {
  const auto found = shards_.find(id.value);
  if (found == shards_.end()) {
    return absl::FailedPreconditionError(absl::StrCat("shard ", id.value, " is not written here"));
  }
  if (!found->second.ok()) return found->second.status();
  return found->second->get();
}

}  // namespace vicinity

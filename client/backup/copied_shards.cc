#include "client/backup/copied_shards.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/backup/change_pull.h"
#include "client/backup/repeated_shard.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "proto/live.pb.h"

namespace vicinity {
namespace {

// Of rows, lists and blocks that have changed: whoever copies reads each a few times at most.
constexpr int64_t kCacheBytes = int64_t{192} << 20;

// Makes a shard's changes again up to this version.
absl::Status Pull(const ShardRouter& router, ShardId id, uint64_t until, const std::string& changes,
                  const std::shared_ptr<LiveShard>& shard, Progress* progress) {
  RepeatedShard repeated(id, shard, changes);
  until = std::max(until, repeated.before());
  progress->Begin(absl::StrCat("reading changes of shard ", id.value), static_cast<int64_t>(until),
                  "versions");
  // The last one that is there is looked at again.
  const uint64_t after = std::max<uint64_t>(repeated.before(), 1) - 1;
  VICINITY_RETURN_IF_ERROR(PullChanges(router, id, after, std::nullopt, until, Reach::kKnown,
                                       [&](proto::Change change) -> absl::Status {
                                         progress->Update(static_cast<int64_t>(change.version()));
                                         return repeated.Take(std::move(change));
                                       }));
  progress->End();
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckIsOfServers(uint64_t fingerprint, const Dataset& dataset) {
  if (fingerprint == dataset.fingerprint()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s is dataset %016x, and the servers have %016x: their changes are of other files",
      dataset.directory(), dataset.fingerprint(), fingerprint));
}

absl::StatusOr<CopiedShards> CopyShards(const ShardRouter& router, const Dataset& dataset,
                                        absl::Span<const uint64_t> versions,
                                        const std::string& folder, Progress* progress) {
  LiveDatasetOptions options;
  options.cache_bytes = kCacheBytes;
  CopiedShards copied;
  VICINITY_ASSIGN_OR_RETURN(copied.live, LiveDataset::Open(dataset, folder, options));
  for (size_t s = 0; s < versions.size(); ++s) {
    const ShardId id{static_cast<int32_t>(s)};
    VICINITY_ASSIGN_OR_RETURN(copied.shards.emplace_back(), copied.live->Find(id));
    VICINITY_RETURN_IF_ERROR(Pull(router, id, versions[s], folder, copied.shards.back(), progress));
  }
  return copied;
}

}  // namespace vicinity

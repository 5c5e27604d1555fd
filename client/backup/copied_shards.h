// The changes of all shards of a live graph, copied from its servers to this machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/shard_router.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "proto/common/progress.h"

namespace vicinity {

struct CopiedShards {
  std::unique_ptr<LiveDataset> live;
  std::vector<std::shared_ptr<LiveShard>> shards;  // of the dataset, in their order
};

// FailedPrecondition naming both: the servers' dataset, which `fingerprint` is of, is another.
absl::Status CheckIsOfServers(uint64_t fingerprint, const Dataset& dataset);

// Makes the changes of each shard again in `folder`, up to `versions` at least, from the servers'.
// Those that are there already, of a call before or a backup that was restored there, are gone on
// from. `dataset`: the files that the servers have, open as a whole; it outlives the result.
//
// FailedPrecondition naming the folder: another process has it, or its changes are not the
// servers', as after a promotion that took some back, or more than `versions`. Else what reading
// changes and LiveShard::Repeat give.
//
// Memory: the changes' own, as servers need it. Disk: the changes.
absl::StatusOr<CopiedShards> CopyShards(const ShardRouter& router, const Dataset& dataset,
                                        absl::Span<const uint64_t> versions,
                                        const std::string& folder, Progress* progress);

}  // namespace vicinity

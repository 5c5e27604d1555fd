// A dataset whose shards are written while they are read: what has changed of each, beside the
// files.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_shard.h"
#include "proto/common/ids.h"

namespace vicinity {

struct LiveDatasetOptions {
  int64_t cache_bytes = int64_t{768} << 20;  // of rows, lists and blocks, all shards together
  int64_t least_free_bytes = 0;              // as LiveShardOptions
};

// Threads:  immutable; any number may read and write shards.
// Lifetime: the dataset outlives it, and it its shards' views.
class LiveDataset {
 public:
  // Opens the changes of all shards that the dataset was asked for, each in a folder of its own
  // under `folder`, which is made if there is none: "shard-00003". A shard whose changes, or files,
  // are damaged is left out as long as another can be opened; else LiveShard's errors.
  static absl::StatusOr<std::unique_ptr<LiveDataset>> Open(const Dataset& dataset,
                                                           const std::string& folder,
                                                           const LiveDatasetOptions& options);

  // What LiveShard::Open said of one that was left out; Unavailable for one whose files were
  // damaged when this was opened; FailedPrecondition for one that the dataset was not asked for.
  absl::StatusOr<LiveShard*> Find(ShardId id) const;
  const std::string& folder() const { return folder_; }

 private:
  explicit LiveDataset(std::string folder) : folder_(std::move(folder)) {}

  const std::string folder_;
  std::map<int32_t, absl::StatusOr<std::unique_ptr<LiveShard>>> shards_;
};

}  // namespace vicinity

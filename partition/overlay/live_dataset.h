// A dataset whose shards are written while they are read: what has changed of each, beside the
// files.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/overlay/disk_reserve.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"

namespace vicinity {

struct LiveDatasetOptions {
  int64_t cache_bytes = int64_t{768} << 20;  // of rows, lists and blocks, all shards together
  int64_t least_free_bytes = 0;              // as LiveShardOptions
  int64_t reserve_bytes = 0;                 // of the disk, given up when that is full; 0: none
  // Null: this server alone has each shard.
  std::function<ShardServers(ShardId)> servers{};
};

// Threads:  any.
// Lifetime: the dataset outlives it. A shard is there for as long as somebody has it; its views end
//           before it does.
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
  absl::StatusOr<std::shared_ptr<LiveShard>> Find(ShardId id) const;
  // Sets the changes of a shard aside, in a folder beside theirs whose name ends with a number, and
  // opens it again without any, written by `writer`. While somebody still has the shard it is
  // Unavailable, also after this has given up waiting for that, with Unavailable, `until` then:
  // calling again goes on. FailedPrecondition for a shard that Find does not know.
  absl::Status StartOver(ShardId id, const WriterTerm& writer, absl::Time until);
  const std::string& folder() const { return folder_; }
  // A file in the folder, named by the first shard: "reserve-00003". Given up when a shard's store
  // meets a full disk, and made by who calls its Make; Open does so if there is room for twice it.
  DiskReserve* reserve() const { return reserve_.get(); }

 private:
  using Opened = absl::StatusOr<std::shared_ptr<LiveShard>>;
  LiveDataset(const Dataset& dataset, std::string folder, const LiveDatasetOptions& options);
  Opened OpenShard(const Shard& shard) const;
  std::string FolderOf(ShardId id) const;

  const Dataset& dataset_;
  const std::string folder_;
  const LiveShardOptions of_shard_;
  const std::function<ShardServers(ShardId)> servers_;
  const std::shared_ptr<DiskReserve> reserve_;  // with the shards, which may be there for longer
  mutable Mutex mu_;
  std::map<int32_t, Opened> shards_ ABSL_GUARDED_BY(mu_);
  // What starts over, until it is there again.
  struct Leaving {
    std::shared_ptr<LiveShard> shard;  // null: its changes may be set aside
    uint64_t closed_for = 0;           // as it was then
  };
  std::map<int32_t, Leaving> leaving_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity

// What was written to a live graph, kept in a folder elsewhere and brought back.
//
// The files beneath never change, so whoever has copied them once has them; what changes is the log
// of each shard, of which a backup has one file, `shard-00003.changes` (partition/overlay/
// change_file.h). Made again it appends what came since.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/shards/shard_router.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"

namespace vicinity {

struct KeptShard {
  int32_t shard = 0;
  uint64_t version = 0;  // the last that is kept
  uint64_t added = 0;    // of them by this call
  int64_t bytes = 0;
  bool half_written = false;  // by a backup that was cut off: the next one goes on there
};

// Brings the folder, which is made if there is none, up to the versions that the shards have now,
// or, where an edge in another shard comes from a later node, to the one with the node; on disk
// when it returns. FailedPrecondition for a folder of another dataset, or one that another process
// writes; DataLoss naming file and version; else what reading changes gives.
//
// Memory: some ten batches.
absl::StatusOr<std::vector<KeptShard>> KeepChanges(const ShardRouter& router, uint64_t fingerprint,
                                                   const std::string& folder, Progress* progress);

// A folder that has changes of shard 0 on.
struct KeptBackup {
  std::string folder;
  std::string of;          // "dataset 0123456789abcdef"
  int32_t num_shards = 0;  // that the dataset has
  int32_t num_kept = 0;    // of these, whose changes are there
  int64_t bytes = 0;
  absl::Time changed;  // last
};

// `folder`, if it is a backup, and the folders in it that are, by name. It reads beginnings of
// files alone: whether the rest is what was written, CheckKept tells. NotFound if there is none;
// DataLoss naming a file whose beginning is damaged.
absl::StatusOr<std::vector<KeptBackup>> ListBackups(const std::string& folder);

// Reads all of it. DataLoss naming the file and the version that is not what was written; NotFound
// if there is nothing.
absl::StatusOr<std::vector<KeptShard>> CheckKept(const std::string& folder, Progress* progress);

// Makes the changes again of all shards that the dataset has open, in `changes`, which a server
// then takes as its own. What a restore that was cut off has left there is gone on from.
// FailedPrecondition for files of another dataset, for other changes that are there, or while a
// server has them; NotFound for a shard that is not kept; DataLoss for what is damaged.
absl::StatusOr<std::vector<KeptShard>> RestoreChanges(const std::string& folder,
                                                      const Dataset& dataset,
                                                      const std::string& changes,
                                                      Progress* progress);

}  // namespace vicinity

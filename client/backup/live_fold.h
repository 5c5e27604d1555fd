// A fold made beside the servers of a live graph, which go on reading and writing meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "client/shards/shard_router.h"
#include "partition/dataset/dataset.h"
#include "partition/fold/fold.h"
#include "proto/common/progress.h"

namespace vicinity {

struct LiveFoldOptions {
  std::string directory;  // of the new dataset, which must not be there
  // A backup's folder (client/backup/live_backup.h) whose changes need not be read from the
  // servers; empty: all are. It is not added to.
  std::string backup{};
  bool keep_changes = false;  // in DIR.changes, for who carries later ones over
};

// Folds versions of the shards that fit together (partition/fold/consistent_cut.h): of each shard
// the one that it had when this began, or a later one. The report tells which, and so does the new
// dataset (FoldedFrom in proto/manifest.proto).
//
// The changes are read from the servers and made again in a folder beside the new dataset,
// DIR.changes, which goes at the end. If this fails or is cut off it stays, and the next call goes
// on from there. `dataset`: the files that the servers have, open as a whole.
//
// FailedPrecondition naming both: the servers have another dataset; another process folds to the
// same place; or the folder has changes that are not the servers', as after a promotion that took
// some back. Else what reading versions and changes gives (Unavailable while a shard has no
// writer), and WriteFolded's errors.
//
// Threads: uses all cores. Memory: WriteFolded's, and the changes' own, as servers need it.
// Disk:    the changes once more, and the new dataset.
absl::StatusOr<FoldReport> FoldLive(const ShardRouter& router, uint64_t fingerprint,
                                    const Dataset& dataset, const LiveFoldOptions& options,
                                    Progress* progress);

}  // namespace vicinity

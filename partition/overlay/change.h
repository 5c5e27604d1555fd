// How a batch becomes the next version of a shard: what it names is looked for in what the shard
// holds now, what it brings goes into the store, and what is to be known of it in memory into the
// index. The last step is also how a log is read again.
#pragma once

#include "absl/status/status.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/delta_index.h"
#include "partition/overlay/delta_store.h"
#include "partition/overlay/live_base.h"
#include "proto/live.pb.h"

namespace vicinity {

// Completes a change whose batch has passed CheckBatch (partition/overlay/batch_check.h) and whose
// version comes next: numbers of what is new, positions of edges. `files`: the shard without
// changes. AlreadyExists naming a new node's key that another has; NotFound naming a node, key or
// edge that there is not (any more), InvalidArgument an edge that is to go twice; else what reading
// lists gives.
absl::Status ResolveChange(const LiveBase& base, const ShardReader& files, const DeltaIndex& index,
                           proto::Change* change);

// Adds a resolved change to a commit; the change keeps what the log does.
absl::Status PutChange(const LiveBase& base, proto::Change* change, DeltaStore::Commit* commit);

// Of a change as the log keeps it, its rows again: of rows that it names twice the later one,
// twice.
absl::Status FillChange(const LiveBase& base, const DeltaStore& store, proto::Change* change);

// Of a resolved change, as it was or as the log has it.
void IndexChange(const LiveBase& base, const proto::Change& change, DeltaIndex* index);

}  // namespace vicinity

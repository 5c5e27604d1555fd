// A shard's change log, read from the servers that have it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "client/shards/shard_router.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"

namespace vicinity {

// Whether versions are known to be there, so that a server that has not come so far, as one that is
// being copied anew, is passed over; else it may be what says that there are no more yet.
enum class Reach { kKnown, kPerhaps };

// Calls take(change) with the versions behind `after` up to `until`, in order, with their rows.
// `after_term`, if there is one, is that version's: OutOfRange, if it was taken back. DataLoss
// naming the first version that nobody has; what `take` gives; else what reading gives.
//
// Memory: some MiB of changes, or the largest one.
absl::Status PullChanges(const ShardRouter& router, ShardId shard, uint64_t after,
                         std::optional<uint64_t> after_term, uint64_t until, Reach reach,
                         const std::function<absl::Status(proto::Change)>& take);

}  // namespace vicinity

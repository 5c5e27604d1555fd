// A live graph as it was: every shard at one version, whatever is written meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "client/types/version_name.h"
#include "partition/overlay/live_values.h"

namespace vicinity {

// The version that each shard is read at, and its sizes there: one round trip, all shards at once.
// Every write that was acknowledged before is in them. Of several servers that have a shard its
// writer is asked: Unavailable naming what they say while none of them is.
absl::StatusOr<std::vector<ShardVersion>> ReadVersions(const ShardRouter& router,
                                                       const CallContext& context);
// The same of a graph that is only read: where a shard has no writer just now, as far as any server
// of it has come, and no less far than what was seen before.
absl::StatusOr<std::vector<ShardVersion>> ReadVersionsThereAre(const ShardRouter& router,
                                                               const CallContext& context);

// The same shards, each at its version. `router`, which reads the latest, outlives it.
// InvalidArgument for another number of versions than shards; OutOfRange naming a shard that has
// not come so far, or whose version was taken back. Waits for a round trip.
absl::StatusOr<std::unique_ptr<ShardRouter>> PinShards(const ShardRouter& router,
                                                       absl::Span<const VersionName> versions,
                                                       const CallContext& context);

}  // namespace vicinity

// Who keeps a shard the same on all its servers.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/handlers/server_state.h"
#include "server/replication/shard_keeper.h"

namespace vicinity {

// Unimplemented for a shard that no other server has, or that is read-only; else as FindShard
// (server/handlers/request_checks.h).
absl::StatusOr<ShardKeeper*> FindKeeper(const ServerState& state, uint64_t fingerprint,
                                        int32_t shard);

}  // namespace vicinity

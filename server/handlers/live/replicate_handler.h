// The Replicate RPC.
#pragma once

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// Errors as FindKeeper and ShardKeeper::Take. Waits for the disk.
absl::StatusOr<proto::ReplicateReply> Replicate(const ServerState& state,
                                                const proto::ReplicateRequest& request);

}  // namespace vicinity

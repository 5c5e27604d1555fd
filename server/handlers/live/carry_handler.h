// The Carry RPC.
#pragma once

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// Errors: LiveShard::Repeat's; FailedPrecondition for a dataset that is not prepared.
absl::StatusOr<proto::CarryReply> Carry(const ServerState& state,
                                        const proto::CarryRequest& request);

}  // namespace vicinity

// The admin RPC Appoint.
#pragma once

#include "absl/status/statusor.h"
#include "proto/admin.pb.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// Of a server with the data's `state`. Errors as FindKeeper, ShardKeeper::Appoint and ::Read.
absl::StatusOr<proto::AppointReply> Appoint(const ServerState& state,
                                            const proto::AppointRequest& request);

}  // namespace vicinity

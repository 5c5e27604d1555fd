// Handler of Status: what the server is doing.
#pragma once

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// Never fails, whatever the state of the shards.
absl::StatusOr<proto::StatusReply> ReportStatus(const ServerState& state,
                                                const proto::StatusRequest& request);

}  // namespace vicinity

// The Barrier RPC.
#pragma once

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// Of a shard that is read-only version 0, and the sizes of its files. Unimplemented, as the shard
// refuses changes, if its writer is asked for and this server is not; else errors as ReaderAt
// (server/handlers/request_checks.h).
absl::StatusOr<proto::BarrierReply> Barrier(const ServerState& state,
                                            const proto::BarrierRequest& request);

}  // namespace vicinity

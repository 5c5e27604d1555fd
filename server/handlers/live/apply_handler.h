// The Apply RPC.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// Of a batch that the request keeps. Errors as service.proto says of Apply.
//
// Threads: the caller's waits for the disk, half a minute at most.
absl::StatusOr<std::unique_ptr<ChunkSource<proto::ApplyReply>>> Apply(
    const ServerState& state, const proto::ApplyRequest& request);

}  // namespace vicinity

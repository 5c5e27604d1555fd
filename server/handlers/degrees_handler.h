// Handler of FetchDegrees: how many in-neighbours nodes have that one shard owns.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// InvalidArgument for an edge type that there is not, or naming the first row outside the shard.
//
// Cost: a cache miss a target.
absl::StatusOr<std::unique_ptr<ChunkSource<proto::DegreesReply>>> FetchDegrees(
    const ServerState& state, const proto::DegreesRequest& request);

// server/handlers/reply_size.h
int64_t ReplyBytes(const ServerState& state, const proto::DegreesRequest& request);

}  // namespace vicinity

// Handler of ResolveKeys: which nodes have these keys.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// InvalidArgument naming the first key whose directory is in another shard: its -1 would be a lie.
//
// Cost: a binary search a key.
absl::StatusOr<std::unique_ptr<ChunkSource<proto::ResolveReply>>> ResolveKeys(
    const ServerState& state, const proto::ResolveRequest& request);

// server/handlers/reply_size.h
int64_t ReplyBytes(const ServerState& state, const proto::ResolveRequest& request);

}  // namespace vicinity

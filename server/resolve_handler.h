// Handler of ResolveKeys: which nodes have these keys.
#pragma once

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/chunk_sink.h"
#include "server/server_state.h"

namespace vicinity {

// InvalidArgument naming the first key whose directory is in another shard: its -1 would be a lie.
//
// Cost: a binary search a key.
absl::StatusOr<proto::ResolveReply> ResolveKeys(const ServerState& state,
                                                const proto::ResolveRequest& request,
                                                IsGone is_gone);

}  // namespace vicinity

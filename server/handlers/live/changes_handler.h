// The Changes RPC.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// InvalidArgument for more versions than proto/limits.h allows, or a cursor's name; OutOfRange
// naming both if the shard has not come to the least, or `after` was taken back; of a cursor
// Unimplemented if the shard is written elsewhere, and ChangeCursors' errors; else as FindLive
// (server/handlers/request_checks.h), and of the store. A cursor waits for the disk.
absl::StatusOr<std::unique_ptr<ChunkSource<proto::ChangesChunk>>> Changes(
    const ServerState& state, const proto::ChangesRequest& request);

// How large batches are nobody knows before: a guess, some thousand edges each.
int64_t ReplyBytes(const ServerState& state, const proto::ChangesRequest& request);

}  // namespace vicinity

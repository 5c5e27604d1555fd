// Handler of SampleNeighbors: one hop around nodes that one shard owns.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// The neighbours in the order that proto/service.proto promises. Errors are for the request as a
// whole: everything in it is checked before anything is made. DataLoss from the source where a list
// is damaged.
//
// Memory: one chunk, and the neighbours that it is cut from (at most twice a chunk, or one target's
//         fanout). Lists that are taken whole are read as they are sent, whatever their length.
absl::StatusOr<std::unique_ptr<ChunkSource<proto::SampleChunk>>> SampleNeighbors(
    const ServerState& state, const proto::SampleRequest& request);

// server/handlers/reply_size.h; lists that are taken whole count as the mean length of their type.
int64_t ReplyBytes(const ServerState& state, const proto::SampleRequest& request);

}  // namespace vicinity

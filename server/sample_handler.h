// Handler of SampleNeighbors: one hop around nodes that one shard owns.
#pragma once

#include "absl/status/status.h"
#include "proto/service.pb.h"
#include "server/chunk_sink.h"
#include "server/server_state.h"

namespace vicinity {

// Sends the neighbours in the order that proto/service.proto promises. Everything in the request is
// checked before the first chunk.
//
// Memory: one chunk, and the neighbours that it is cut from (at most twice a chunk, or one target's
//         fanout). Lists that are taken whole are read as they are sent, whatever their length.
absl::Status SampleNeighbors(const ServerState& state, const proto::SampleRequest& request,
                             ChunkSink<proto::SampleChunk> emit);

}  // namespace vicinity

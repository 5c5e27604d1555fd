// Handler of FetchEdgeIds: which edges join pairs of nodes whose targets one shard owns.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// InvalidArgument for an edge type that there is not, for sources and targets that are not as many,
// or naming the first target outside the shard. A source that no node is has no edges.
//
// Cost: as ShardReader::FindEdges.
absl::StatusOr<std::unique_ptr<ChunkSource<proto::EdgeIdsReply>>> FetchEdgeIds(
    const ServerState& state, const proto::EdgeIdsRequest& request);

// server/handlers/reply_size.h
int64_t ReplyBytes(const ServerState& state, const proto::EdgeIdsRequest& request);

}  // namespace vicinity

// Handler of FetchRanking: which nodes the minibatches of a home are likeliest to need.
#pragma once

#include "absl/status/status.h"
#include "proto/service.pb.h"
#include "server/chunk_sink.h"
#include "server/server_state.h"

namespace vicinity {

// NotFound if none of the home's shards is served here, or there is no such ranking or home.
absl::Status FetchRanking(const ServerState& state, const proto::RankingRequest& request,
                          ChunkSink<proto::RankingChunk> emit);

}  // namespace vicinity

// Handler of FetchRanking: which nodes the minibatches of a home are likeliest to need.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// NotFound if the dataset has no such ranking, or none for this home; FailedPrecondition if none of
// the home's shards is served here: another server of the dataset may have one.
absl::StatusOr<std::unique_ptr<ChunkSource<proto::RankingChunk>>> FetchRanking(
    const ServerState& state, const proto::RankingRequest& request);

// server/handlers/reply_size.h
int64_t ReplyBytes(const ServerState& state, const proto::RankingRequest& request);

}  // namespace vicinity

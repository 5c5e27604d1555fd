// Handler of Walk: random walks on one shard.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// InvalidArgument saying what is wrong with the walks (sampler/walk_spec.h), for walks that are
// more than max_ids steps long in all, for arrays that are not as many, or naming the first walk
// that stands outside the shard or has no step left.
//
// Cost: as sampling one neighbour a step.
absl::StatusOr<std::unique_ptr<ChunkSource<proto::WalkChunk>>> Walk(
    const ServerState& state, const proto::WalkRequest& request);

// server/handlers/reply_size.h
int64_t ReplyBytes(const ServerState& state, const proto::WalkRequest& request);

}  // namespace vicinity

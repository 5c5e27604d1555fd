// Handler of FindRows: which rows that one shard owns meet a condition.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// InvalidArgument for a condition that has no terms or does not fit the type, and for more rows
// than one request may be about. Errors are for the request as a whole: what the source makes
// afterwards is there. Memory: one chunk, and RowFinder's. Cost: the values of every row are read.
absl::StatusOr<std::unique_ptr<ChunkSource<proto::FindChunk>>> FindRows(
    const ServerState& state, const proto::FindRequest& request);

// server/handlers/reply_size.h. What is read is work as well, so that many rows of which few are
// sent are not free: it is the larger of both.
int64_t ReplyBytes(const ServerState& state, const proto::FindRequest& request);

}  // namespace vicinity

// Handler of FetchRows: what nodes that one shard owns are, column by column.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// Errors are for the request as a whole: what a source makes afterwards is there.
// Memory: one chunk. Cost: one copy of every row.
absl::StatusOr<std::unique_ptr<ChunkSource<proto::RowsChunk>>> FetchRows(
    const ServerState& state, const proto::RowsRequest& request);

// server/handlers/reply_size.h
int64_t ReplyBytes(const ServerState& state, const proto::RowsRequest& request);

}  // namespace vicinity

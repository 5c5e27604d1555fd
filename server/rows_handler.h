// Handlers of FetchRows and FetchNames: what nodes that one shard owns are, column by column.
#pragma once

#include "absl/status/status.h"
#include "proto/service.pb.h"
#include "server/chunk_sink.h"
#include "server/server_state.h"

namespace vicinity {

// Memory: one chunk. Cost: one copy of every row.
absl::Status FetchRows(const ServerState& state, const proto::RowsRequest& request,
                       ChunkSink<proto::RowsChunk> emit);

// InvalidArgument if the type's ids are not strings.
absl::Status FetchNames(const ServerState& state, const proto::NamesRequest& request,
                        ChunkSink<proto::NamesChunk> emit);

}  // namespace vicinity

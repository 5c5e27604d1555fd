// Handler of FetchRagged: rows of ragged columns, and names, of nodes that one shard owns.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// InvalidArgument for a column that the type does not have, or names of integer ids. Errors are for
// the request as a whole: what the source makes afterwards is there.
// Memory: one chunk. Cost: one copy of every row.
absl::StatusOr<std::unique_ptr<ChunkSource<proto::RaggedChunk>>> FetchRagged(
    const ServerState& state, const proto::RaggedRequest& request);

// server/handlers/reply_size.h. As if the rows asked for were as long as those of the shard are on
// average.
int64_t ReplyBytes(const ServerState& state, const proto::RaggedRequest& request);

}  // namespace vicinity

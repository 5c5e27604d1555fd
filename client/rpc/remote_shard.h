// A shard behind a server: each operation as one RPC, or as several where it is too large for one.
#pragma once

#include <cstdint>
#include <memory>

#include "client/rpc/server_connection.h"
#include "client/shards/shard_access.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// A request that the server refuses as wrong, though it is within the limits that its hello gave,
// is cut anew and asked once more if another hello gives smaller ones: it may have been restarted
// with them.
//
// Lifetime: connection, schema and book must outlive it.
// Errors:   as ShardAccess; "shard 2 at 127.0.0.1:7502 (server c): SampleNeighbors: no answer in
//           5.0 s". Each RPC has the call timeout for itself.
std::unique_ptr<ShardAccess> MakeRemoteShard(ShardId shard, uint64_t fingerprint,
                                             ServerConnection* connection, const Schema& schema,
                                             const Book& book);

}  // namespace vicinity

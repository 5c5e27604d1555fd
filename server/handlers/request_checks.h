// Checks that many requests need, made before anything is allocated. Errors quote what was wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/live_shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/service.pb.h"
#include "server/handlers/limits.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// FailedPrecondition with both if `fingerprint` is another dataset's.
absl::Status CheckFingerprint(const ServerState& state, uint64_t fingerprint);

// The shard, of the dataset that the caller means. FailedPrecondition as above, and, naming the
// shards served here, for one that is not; InvalidArgument for a shard that the dataset does not
// have; DataLoss if a file of it is known to be damaged.
absl::StatusOr<const Shard*> FindShard(const ServerState& state, uint64_t fingerprint,
                                       int32_t shard);

// Who writes the same shard. Unimplemented if it is read-only here; else as above, and
// LiveDataset::Find.
absl::StatusOr<std::shared_ptr<LiveShard>> FindLive(const ServerState& state, uint64_t fingerprint,
                                                    int32_t shard);

// The same shard's reader, at the version that is asked for. OutOfRange naming both if it has not
// come so far; else as above, and LiveDataset::Find.
absl::StatusOr<ShardReader> ReaderAt(const ServerState& state, uint64_t fingerprint, int32_t shard,
                                     const proto::ReadAt& at);
// ... of any request to a shard.
template <typename Request>
absl::StatusOr<ShardReader> FindReader(const ServerState& state, const Request& request) {
  return ReaderAt(state, request.fingerprint(), request.shard(), request.at());
}

// InvalidArgument if the schema has no such type.
absl::StatusOr<NodeTypeId> FindNodeType(const Schema& schema, int32_t node_type);

// Likewise.
absl::StatusOr<EdgeTypeId> FindEdgeType(const Schema& schema, int32_t edge_type);

// The uint64 ids of a `bytes` field. InvalidArgument naming the field if it is not whole ids or
// more than max_ids of them. Points into `bytes`, or into `copy` where those lie unaligned.
absl::StatusOr<absl::Span<const uint64_t>> ReadIds(absl::string_view field,
                                                   const std::string& bytes, const Limits& limits,
                                                   std::vector<uint64_t>* copy);

// InvalidArgument naming the first of `rows` that is not below `num_nodes`, and where it stands.
absl::Status CheckRows(absl::Span<const uint64_t> rows, int64_t num_nodes, const Shard& shard,
                       absl::string_view node_type);

}  // namespace vicinity

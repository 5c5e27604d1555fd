#include "server/handlers/describe_handler.h"

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "proto/common/status.h"
#include "proto/version.h"
#include "server/handlers/request_checks.h"

namespace vicinity {

absl::StatusOr<proto::HelloReply> Hello(const ServerState& state,
                                        const proto::HelloRequest& request) {
  if (request.protocol_version() != kProtocolVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("server \"", state.name, "\" (version ", kVersion, ") speaks protocol ",
                     kProtocolVersion, ", the caller speaks ", request.protocol_version()));
  }
  if (state.IsStopping()) {
    return absl::UnavailableError(absl::StrCat("server \"", state.name, "\" is stopping"));
  }
  const Dataset& dataset = *state.dataset;
  proto::HelloReply reply;
  reply.set_protocol_version(kProtocolVersion);
  reply.set_fingerprint(dataset.fingerprint());
  reply.set_dataset(dataset.manifest().name());
  reply.set_server(state.name);
  reply.mutable_limits()->set_max_ids(state.limits.max_ids);
  reply.mutable_limits()->set_max_sampled(state.limits.max_sampled);
  reply.mutable_limits()->set_max_chunk_bytes(state.limits.max_chunk_bytes);
  for (const ShardId shard : dataset.wanted()) reply.add_shards(shard.value);
  reply.set_live(state.live != nullptr);
  reply.set_follows(state.follows);
  reply.set_bulk(state.has_bulk);
  if (state.also) {
    for (const uint64_t other : state.also()) reply.add_also(other);
  }
  return reply;
}

absl::StatusOr<proto::DescribeReply> Describe(const ServerState& state,
                                              const proto::DescribeRequest& request) {
  if (request.fingerprint() != 0) {
    VICINITY_RETURN_IF_ERROR(CheckFingerprint(state, request.fingerprint()));
  }
  const Dataset& dataset = *state.dataset;
  const proto::Manifest& manifest = dataset.manifest();
  proto::DescribeReply reply;
  reply.set_dataset(manifest.name());
  reply.set_fingerprint(dataset.fingerprint());
  *reply.mutable_schema() = manifest.schema();
  *reply.mutable_book() = manifest.book();
  for (const ShardId shard : dataset.wanted()) reply.add_shards(shard.value);
  for (const proto::Ranking& ranking : manifest.rankings()) {
    *reply.add_rankings() = ranking;
    reply.mutable_rankings(reply.rankings_size() - 1)->clear_files();
  }
  *reply.mutable_audit() = manifest.audit();
  reply.set_provenance(manifest.provenance());
  return reply;
}

}  // namespace vicinity

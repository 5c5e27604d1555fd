#include "server/handlers/live/barrier_handler.h"

#include <cstdint>
#include <memory>
#include <string>

#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

absl::Status AddWriter(const ServerState& state, const proto::BarrierRequest& request,
                       proto::BarrierReply* reply) {
  VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> shard,
                            FindLive(state, request.fingerprint(), request.shard()));
  const absl::Status refusal = shard->refusal();
  if (request.of_writer()) VICINITY_RETURN_IF_ERROR(refusal);
  const WriterTerm writer = shard->writer();
  reply->mutable_writer()->set_term(writer.term);
  reply->mutable_writer()->set_writer(writer.writer);
  reply->set_refuses(std::string(refusal.message()));
  reply->set_catching_up(shard->catching_up());
  if (!request.want_cursors()) return absl::OkStatus();
  for (const ChangeCursor& cursor : shard->cursors()->List()) {
    proto::ChangeCursor& told = *reply->add_cursors();
    told.set_name(cursor.name);
    told.mutable_at()->set_version(cursor.at.version);
    told.mutable_at()->set_term(cursor.at.term);
    told.set_unix_micros(cursor.unix_micros);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<proto::BarrierReply> Barrier(const ServerState& state,
                                            const proto::BarrierRequest& request) {
  proto::BarrierReply reply;
  if (state.live != nullptr) VICINITY_RETURN_IF_ERROR(AddWriter(state, request, &reply));
  // After the writer was known to be it: a later one's first version is not in it.
  VICINITY_ASSIGN_OR_RETURN(const ShardReader reader, FindReader(state, request));
  const Schema& schema = state.dataset->schema();
  reply.set_version(reader.version());
  reply.set_term(reader.term());
  for (size_t type = 0; type < schema.node_types.size(); ++type) {
    reply.add_num_nodes(reader.num_nodes(NodeTypeId{static_cast<int32_t>(type)}));
  }
  for (size_t type = 0; type < schema.edge_types.size(); ++type) {
    reply.add_num_edges(reader.num_edges(EdgeTypeId{static_cast<int32_t>(type)}));
  }
  return reply;
}

}  // namespace vicinity

#include "server/handlers/live/barrier_handler.h"

#include <cstdint>

#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "server/handlers/request_checks.h"

namespace vicinity {

absl::StatusOr<proto::BarrierReply> Barrier(const ServerState& state,
                                            const proto::BarrierRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(const ShardReader reader, FindReader(state, request));
  const Schema& schema = state.dataset->schema();
  proto::BarrierReply reply;
  reply.set_version(reader.version());
  for (size_t type = 0; type < schema.node_types.size(); ++type) {
    reply.add_num_nodes(reader.num_nodes(NodeTypeId{static_cast<int32_t>(type)}));
  }
  for (size_t type = 0; type < schema.edge_types.size(); ++type) {
    reply.add_num_edges(reader.num_edges(EdgeTypeId{static_cast<int32_t>(type)}));
  }
  return reply;
}

}  // namespace vicinity

#include "server/handlers/live/replicate_handler.h"

#include "proto/common/status.h"
#include "server/handlers/live/find_keeper.h"
#include "server/replication/shard_keeper.h"

namespace vicinity {

absl::StatusOr<proto::ReplicateReply> Replicate(const ServerState& state,
                                                const proto::ReplicateRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(ShardKeeper* const keeper,
                            FindKeeper(state, request.fingerprint(), request.shard()));
  return keeper->Take(request);
}

}  // namespace vicinity

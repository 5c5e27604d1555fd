#include "server/handlers/live/find_keeper.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "server/handlers/request_checks.h"
#include "server/replication/replication.h"

namespace vicinity {

absl::StatusOr<ShardKeeper*> FindKeeper(const ServerState& state, uint64_t fingerprint,
                                        int32_t shard) {
  VICINITY_RETURN_IF_ERROR(FindShard(state, fingerprint, shard).status());
  ShardKeeper* const keeper =
      state.replication == nullptr ? nullptr : state.replication->Find(ShardId{shard});
  if (keeper != nullptr) return keeper;
  return absl::UnimplementedError(absl::StrCat("server \"", state.name,
                                               "\" knows no other server that has shard ", shard,
                                               " of a live graph: its cluster file would say"));
}

}  // namespace vicinity

#include "server/handlers/live/appoint_handler.h"

#include <cstdint>

#include "partition/dataset/dataset.h"
#include "proto/common/status.h"
#include "server/handlers/live/find_keeper.h"
#include "server/replication/shard_keeper.h"

namespace vicinity {

absl::StatusOr<proto::AppointReply> Appoint(const ServerState& state,
                                            const proto::AppointRequest& request) {
  const uint64_t own = state.dataset->fingerprint();
  const uint64_t meant = request.fingerprint() == 0 ? own : request.fingerprint();
  VICINITY_ASSIGN_OR_RETURN(ShardKeeper* const keeper, FindKeeper(state, meant, request.shard()));
  if (request.has_writer()) {
    ShardKeeper::Appointment appointment;
    appointment.writer = {request.writer().term(), request.writer().writer()};
    appointment.least = {request.least().version(), request.least().term()};
    appointment.hands_over = request.hands_over();
    VICINITY_RETURN_IF_ERROR(keeper->Appoint(appointment));
  }
  VICINITY_ASSIGN_OR_RETURN(const ShardKeeper::Known known, keeper->Read());
  proto::AppointReply reply;
  reply.set_fingerprint(own);
  reply.mutable_writer()->set_term(known.writer.term);
  reply.mutable_writer()->set_writer(known.writer.writer);
  reply.mutable_position()->set_version(known.position.version);
  reply.mutable_position()->set_term(known.position.term);
  reply.set_catching_up(known.catching_up);
  return reply;
}

}  // namespace vicinity

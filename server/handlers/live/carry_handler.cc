#include "server/handlers/live/carry_handler.h"

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "proto/common/status.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

constexpr absl::Duration kLongestCommit = absl::Seconds(30);

}  // namespace

absl::StatusOr<proto::CarryReply> Carry(const ServerState& state,
                                        const proto::CarryRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> shard,
                            FindLive(state, request.fingerprint(), request.shard()));
  if (state.stage == nullptr || *state.stage != DatasetStage::kPrepared) {
    return absl::FailedPreconditionError(absl::StrCat(
        "server \"", state.name, "\": dataset ", absl::Hex(request.fingerprint(), absl::kZeroPad16),
        " is in force: changes come to it from writers, and are not carried over any more"));
  }
  for (const proto::Change& change : request.changes()) {
    if (change.version() <= shard->logged()) continue;
    VICINITY_RETURN_IF_ERROR(
        shard->Repeat(change, Durability::kBuffered, absl::Now() + kLongestCommit));
  }
  VICINITY_RETURN_IF_ERROR(shard->Sync());
  const LogPosition position = shard->position();
  proto::CarryReply reply;
  reply.mutable_position()->set_version(position.version);
  reply.mutable_position()->set_term(position.term);
  return reply;
}

}  // namespace vicinity

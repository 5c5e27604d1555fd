#include "server/handlers/live/apply_handler.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "proto/common/status.h"
#include "proto/limits.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

// A disk that takes longer has a fault; who asks again meanwhile is answered when it is over.
constexpr absl::Duration kLongestCommit = absl::Seconds(30);

constexpr int64_t kRoomOfReplicate = int64_t{64} << 10;

class AppliedReply final : public ChunkSource<proto::ApplyReply> {
 public:
  AppliedReply(std::shared_ptr<LiveShard> shard, const proto::ApplyRequest& request)
      : shard_(std::move(shard)), request_(request) {}

  absl::StatusOr<Piece> Next(proto::ApplyReply* reply, IsGone is_gone) override {
    if (is_gone()) return GoneError();
    VICINITY_ASSIGN_OR_RETURN(const AppliedBatch applied,
                              shard_->Apply(request_.session(), request_.batch(), Wanted(),
                                            absl::Now() + kLongestCommit));
    if (applied.retired) {
      reply->set_retired(true);
      return Piece::kLast;
    }
    reply->set_version(applied.version);
    reply->set_term(applied.term);
    reply->set_repeated(applied.repeated);
    reply->mutable_first_nodes()->Add(applied.first_nodes.begin(), applied.first_nodes.end());
    reply->mutable_first_edges()->Add(applied.first_edges.begin(), applied.first_edges.end());
    return Piece::kLast;
  }

 private:
  Durability Wanted() const {
    switch (request_.durability()) {
      case proto::BUFFERED:
        return Durability::kBuffered;
      case proto::REPLICATED:
        return Durability::kReplicated;
      default:
        return Durability::kSync;
    }
  }

  const std::shared_ptr<LiveShard> shard_;
  const proto::ApplyRequest& request_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkSource<proto::ApplyReply>>> Apply(
    const ServerState& state, const proto::ApplyRequest& request) {
  if (!proto::Durability_IsValid(request.durability())) {
    return absl::InvalidArgumentError(
        absl::StrCat("durability ", request.durability(), " does not exist"));
  }
  // With what is added to it, it goes to other servers in one request, too.
  const auto bytes = static_cast<int64_t>(request.batch().ByteSizeLong());
  if (bytes > kMaxRequestBytes - kRoomOfReplicate) {
    return absl::InvalidArgumentError(absl::StrCat("a batch of ", bytes, " bytes, the limit is ",
                                                   kMaxRequestBytes - kRoomOfReplicate));
  }
  VICINITY_ASSIGN_OR_RETURN(std::shared_ptr<LiveShard> shard,
                            FindLive(state, request.fingerprint(), request.shard()));
  if (state.stage != nullptr && *state.stage == DatasetStage::kPrepared) {
    return absl::UnavailableError(absl::StrCat("server \"", state.name, "\": dataset ",
                                               absl::Hex(request.fingerprint(), absl::kZeroPad16),
                                               " is not in force yet"));
  }
  return std::make_unique<AppliedReply>(std::move(shard), request);
}

}  // namespace vicinity

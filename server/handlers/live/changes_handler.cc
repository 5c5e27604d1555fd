#include "server/handlers/live/changes_handler.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/overlay/change_cursors.h"
#include "partition/overlay/live_shard.h"
#include "proto/common/status.h"
#include "proto/limits.h"
#include "server/handlers/reply_size.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

// As many changes a message as fit, one at least.
class ChangeSource final : public ChunkSource<proto::ChangesChunk> {
 public:
  // Versions (after, last].
  ChangeSource(std::shared_ptr<const LiveShard> shard, uint64_t after, uint64_t last,
               int64_t chunk_bytes)
      : shard_(std::move(shard)), at_(after), last_(last), chunk_bytes_(chunk_bytes) {}

  absl::StatusOr<Piece> Next(proto::ChangesChunk* chunk, IsGone is_gone) override {
    chunk->clear_changes();
    if (at_ == last_) return Piece::kNothing;
    for (int64_t bytes = 0; at_ < last_ && bytes < chunk_bytes_; ++at_) {
      if (is_gone()) return GoneError();
      VICINITY_ASSIGN_OR_RETURN(proto::Change change, shard_->ReadChange(at_ + 1));
      bytes += static_cast<int64_t>(change.ByteSizeLong());
      *chunk->add_changes() = std::move(change);
    }
    return at_ < last_ ? Piece::kMore : Piece::kLast;
  }

 private:
  const std::shared_ptr<const LiveShard> shard_;
  uint64_t at_;
  const uint64_t last_;
  const int64_t chunk_bytes_;
};

// Behind which version its reader goes on.
absl::StatusOr<uint64_t> UseCursor(const LiveShard& shard, const proto::ChangesRequest& request) {
  const std::string& name = request.cursor();
  VICINITY_RETURN_IF_ERROR(ChangeCursors::CheckName(name));
  VICINITY_RETURN_IF_ERROR(shard.refusal());
  if (request.drops()) {
    VICINITY_RETURN_IF_ERROR(shard.cursors()->Drop(name));
    return shard.version();
  }
  if (request.acknowledges()) {
    const uint64_t after = request.after();
    VICINITY_RETURN_IF_ERROR(shard.At(after).status());
    VICINITY_RETURN_IF_ERROR(shard.cursors()->Move(name, {after, shard.TermOf(after)}));
    return after;
  }
  return std::min(shard.cursors()->Find(name).version, shard.version());
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkSource<proto::ChangesChunk>>> Changes(
    const ServerState& state, const proto::ChangesRequest& request) {
  if (request.count() > uint64_t{kMaxRequestChanges}) {
    return absl::InvalidArgumentError(absl::StrCat("changes of ", request.count(),
                                                   " versions, the limit is ", kMaxRequestChanges));
  }
  VICINITY_ASSIGN_OR_RETURN(std::shared_ptr<const LiveShard> shard,
                            FindLive(state, request.fingerprint(), request.shard()));
  std::optional<uint64_t> term;
  if (request.at().of_term()) term = request.at().term();
  VICINITY_RETURN_IF_ERROR(shard->At(request.at().version(), term).status());
  uint64_t after = std::min(request.after(), shard->version());
  if (request.of_term() && after == request.after()) {
    VICINITY_RETURN_IF_ERROR(shard->CheckTerm(after, request.after_term()));
  }
  if (!request.cursor().empty()) {
    VICINITY_ASSIGN_OR_RETURN(after, UseCursor(*shard, request));
  }
  const uint64_t count = request.drops() ? 0 : request.count();
  const uint64_t last = after + std::min(count, shard->version() - after);
  return std::make_unique<ChangeSource>(std::move(shard), after, last,
                                        state.limits.max_chunk_bytes);
}

int64_t ReplyBytes(const ServerState& /*state*/, const proto::ChangesRequest& request) {
  constexpr int64_t kGuess = 16 << 10;
  return ClampBytes(WideBytes{std::min<uint64_t>(request.count(), kMaxRequestChanges)} * kGuess);
}

}  // namespace vicinity

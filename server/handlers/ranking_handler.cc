#include "server/handlers/ranking_handler.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/ranking.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "server/handlers/reply_size.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

// The first of the home's shards that is served here decides; without one, what was said of the
// last.
absl::Status CheckHome(const ServerState& state, const proto::RankingRequest& request) {
  if (request.home().empty()) return absl::InvalidArgumentError("the home has no shards");
  absl::Status status;
  for (const int32_t shard : request.home()) {
    status = FindShard(state, request.fingerprint(), shard).status();
    if (!absl::IsFailedPrecondition(status)) return status;
  }
  return status;
}

template <typename Value>
void Append(const std::vector<Value>& values, std::string* out) {
  out->append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
}

// Places [at, end) of a ranking; at least one chunk, for its size.
class RankingSource final : public ChunkSource<proto::RankingChunk> {
 public:
  RankingSource(std::unique_ptr<const Ranking> ranking, uint64_t at, uint64_t end,
                const Limits& limits)
      : ranking_(std::move(ranking)),
        end_(end),
        per_chunk_(limits.max_chunk_bytes / (sizeof(int64_t) + sizeof(float))),
        at_(at) {}

  absl::StatusOr<Piece> Next(proto::RankingChunk* chunk, IsGone) override {
    const uint64_t stop = std::min(end_, at_ + per_chunk_);
    chunk->set_first(at_);
    chunk->set_size(ranking_->size());
    chunk->mutable_global_ids()->clear();
    chunk->mutable_probabilities()->clear();
    VICINITY_RETURN_IF_ERROR(ranking_->Read(
        static_cast<int64_t>(at_), static_cast<int64_t>(stop - at_), &nodes_, &probabilities_));
    Append(nodes_, chunk->mutable_global_ids());
    Append(probabilities_, chunk->mutable_probabilities());
    at_ = stop;
    return at_ < end_ ? Piece::kMore : Piece::kLast;
  }

 private:
  const std::unique_ptr<const Ranking> ranking_;
  const uint64_t end_;
  const uint64_t per_chunk_;
  uint64_t at_;
  std::vector<int64_t> nodes_;
  std::vector<float> probabilities_;
};

constexpr int64_t kRankedBytes = 12;  // an id and a probability

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkSource<proto::RankingChunk>>> FetchRanking(
    const ServerState& state, const proto::RankingRequest& request) {
  VICINITY_RETURN_IF_ERROR(CheckHome(state, request));
  VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type,
                            FindNodeType(state.dataset->schema(), request.node_type()));
  const std::vector<int32_t> home(request.home().begin(), request.home().end());
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<Ranking> ranking,
                            Ranking::Open(*state.dataset, request.name(), home, type));
  const uint64_t size = ranking->size();
  if (request.first() > size) {
    return absl::InvalidArgumentError(absl::StrCat("place ", request.first(), " of ranking \"",
                                                   request.name(), "\", which has ", size));
  }
  const uint64_t left = size - request.first();
  const uint64_t end =
      request.first() + (request.count() == 0 ? left : std::min(left, request.count()));
  return std::make_unique<RankingSource>(std::move(ranking), request.first(), end, state.limits);
}

int64_t ReplyBytes(const ServerState& state, const proto::RankingRequest& request) {
  const Dataset& dataset = *state.dataset;
  const int32_t type = request.node_type();
  if (type < 0 || type >= static_cast<int64_t>(dataset.schema().node_types.size())) return 0;
  const auto nodes = static_cast<uint64_t>(dataset.book().num_nodes(NodeTypeId{type}));
  const uint64_t count = request.count() == 0 ? nodes : std::min(nodes, request.count());
  return ClampBytes(WideBytes{count} * kRankedBytes);
}

}  // namespace vicinity

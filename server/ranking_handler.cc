#include "server/ranking_handler.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset.h"
#include "partition/ranking.h"
#include "partition/shard.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "server/request_checks.h"

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
void Append(Value value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

absl::Status FetchRanking(const ServerState& state, const proto::RankingRequest& request,
                          ChunkSink<proto::RankingChunk> emit) {
  VICINITY_RETURN_IF_ERROR(CheckHome(state, request));
  VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type,
                            FindNodeType(state.dataset->schema(), request.node_type()));
  const std::vector<int32_t> home(request.home().begin(), request.home().end());
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Ranking> ranking,
                            Ranking::Open(*state.dataset, request.name(), home, type));
  const uint64_t size = ranking->size();
  if (request.first() > size) {
    return absl::InvalidArgumentError(absl::StrCat("place ", request.first(), " of ranking \"",
                                                   request.name(), "\", which has ", size));
  }
  const uint64_t left = size - request.first();
  const uint64_t end =
      request.first() + (request.count() == 0 ? left : std::min(left, request.count()));
  const uint64_t per_chunk = state.limits.max_chunk_bytes / (sizeof(int64_t) + sizeof(float));
  proto::RankingChunk chunk;
  uint64_t at = request.first();
  do {
    chunk.set_first(at);
    chunk.set_size(size);
    chunk.mutable_global_ids()->clear();
    chunk.mutable_probabilities()->clear();
    const uint64_t stop = std::min(end, at + per_chunk);
    chunk.mutable_global_ids()->reserve((stop - at) * sizeof(int64_t));
    chunk.mutable_probabilities()->reserve((stop - at) * sizeof(float));
    for (; at < stop; ++at) {
      Append(ranking->node(static_cast<int64_t>(at)).value, chunk.mutable_global_ids());
      Append(ranking->probability(static_cast<int64_t>(at)), chunk.mutable_probabilities());
    }
    if (!emit(&chunk)) return GoneError();
  } while (at < end);
  return absl::OkStatus();
}

}  // namespace vicinity

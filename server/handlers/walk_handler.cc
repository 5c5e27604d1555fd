#include "server/handlers/walk_handler.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/status.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/shard_walks.h"
#include "sampler/walk_spec.h"
#include "server/handlers/reply_size.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

constexpr int64_t kNumberBytes = sizeof(uint32_t);

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

struct Asked {
  WalkSpec spec;
  MinibatchDraw draw;
  bool want_edge_ids = false;
  std::vector<uint32_t> walks;
  std::vector<uint32_t> steps;
  std::vector<uint64_t> copied_rows;
  absl::Span<const uint64_t> rows;
};

WalkSpec SpecOf(const proto::WalkRequest& request) {
  WalkSpec spec;
  spec.metapath.assign(request.metapath().begin(), request.metapath().end());
  spec.length = request.length();
  spec.weighted_by = request.weighted_by();
  spec.restart_prob = request.restart_prob();
  return spec;
}

// What a step takes in a reply.
int64_t StepBytes(bool want_edge_ids) { return kIdBytes * (want_edge_ids ? 2 : 1); }

class WalksOfShard final : public ChunkSource<proto::WalkChunk> {
 public:
  WalksOfShard(const ServerState& state, ShardReader reader, Asked asked)
      : dataset_(*state.dataset),
        reader_(std::move(reader)),
        asked_(std::move(asked)),
        walks_of_chunk_(std::max<int64_t>(
            1, state.limits.max_chunk_bytes /
                   (kNumberBytes + asked_.spec.length * StepBytes(asked_.want_edge_ids)))) {}

  absl::StatusOr<Piece> Next(proto::WalkChunk* chunk, IsGone is_gone) override {
    if (is_gone()) return GoneError();
    if (first_ == asked_.walks.size()) return Piece::kNothing;
    const size_t count = std::min(asked_.walks.size() - first_, walks_of_chunk_);
    WalkedSteps made;
    VICINITY_RETURN_IF_ERROR(WalkOnShard(dataset_.schema(), dataset_.book(), reader_, asked_.spec,
                                         asked_.draw, Standing(first_, count), asked_.want_edge_ids,
                                         is_gone, &made));
    chunk->set_first(static_cast<uint32_t>(first_));
    chunk->set_version(reader_.version());
    chunk->set_term(reader_.term());
    chunk->set_counts(Bytes(made.counts));
    chunk->set_nodes(Bytes(made.nodes));
    chunk->set_edge_ids(Bytes(made.edge_ids));
    first_ += count;
    return first_ < asked_.walks.size() ? Piece::kMore : Piece::kLast;
  }

 private:
  StandingWalks Standing(size_t first, size_t count) const {
    return {absl::MakeConstSpan(asked_.walks).subspan(first, count),
            absl::MakeConstSpan(asked_.steps).subspan(first, count),
            asked_.rows.subspan(first, count)};
  }

  const Dataset& dataset_;
  const ShardReader reader_;
  const Asked asked_;
  const size_t walks_of_chunk_;
  size_t first_ = 0;  // that has not walked
};

absl::Status CheckAmounts(const proto::WalkRequest& request, const Limits& limits) {
  const auto walks = static_cast<int64_t>(request.walks().size());
  const auto steps = static_cast<int64_t>(request.steps().size());
  const auto rows = static_cast<int64_t>(request.rows().size());
  if (walks % kNumberBytes != 0 || steps != walks || rows != 2 * walks) {
    return absl::InvalidArgumentError(absl::StrCat(walks, " bytes of walks, ", steps,
                                                   " of steps and ", rows,
                                                   " of rows: a walk has 4, 4 and 8"));
  }
  const int64_t num_walks = walks / kNumberBytes;
  if (request.length() == 0 || num_walks <= limits.max_ids / request.length()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(num_walks, " walks of ", request.length(),
                                                 " steps are more than max_ids, ", limits.max_ids,
                                                 ", in all: ask for fewer at once"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkSource<proto::WalkChunk>>> Walk(
    const ServerState& state, const proto::WalkRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(ShardReader reader, FindReader(state, request));
  VICINITY_RETURN_IF_ERROR(CheckAmounts(request, state.limits));
  Asked asked;
  asked.spec = SpecOf(request);
  if (const std::string problem = WalkProblem(state.dataset->schema(), asked.spec);
      !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  asked.draw = {request.draw().run_seed(), request.draw().epoch(), request.draw().batch()};
  asked.want_edge_ids = request.want_edge_ids();
  const auto copy = [](const std::string& bytes, std::vector<uint32_t>* numbers) {
    numbers->resize(bytes.size() / kNumberBytes);
    bytes.copy(reinterpret_cast<char*>(numbers->data()), bytes.size());
  };
  copy(request.walks(), &asked.walks);
  copy(request.steps(), &asked.steps);
  VICINITY_ASSIGN_OR_RETURN(asked.rows,
                            ReadIds("rows", request.rows(), state.limits, &asked.copied_rows));
  VICINITY_RETURN_IF_ERROR(CheckStanding(state.dataset->schema(), reader, asked.spec,
                                         {asked.walks, asked.steps, asked.rows}));
  return std::make_unique<WalksOfShard>(state, std::move(reader), std::move(asked));
}

int64_t ReplyBytes(const ServerState& state, const proto::WalkRequest& request) {
  if (!CheckAmounts(request, state.limits).ok()) return 0;
  const int64_t num_walks = static_cast<int64_t>(request.walks().size()) / kNumberBytes;
  return num_walks * (kNumberBytes + request.length() * StepBytes(request.want_edge_ids()));
}

}  // namespace vicinity

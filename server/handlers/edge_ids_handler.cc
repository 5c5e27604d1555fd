#include "server/handlers/edge_ids_handler.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/schema.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

// Some hundred microseconds' work where lists are short.
constexpr size_t kPairsBetweenLooks = 1024;

// One message, whatever the number of pairs: clients ask for no more than fit.
class EdgeIds final : public ChunkSource<proto::EdgeIdsReply> {
 public:
  // Ids in the request or in the copies.
  struct Pairs {
    std::vector<uint64_t> copied_sources;
    std::vector<uint64_t> copied_targets;
    absl::Span<const uint64_t> sources;
    absl::Span<const uint64_t> targets;
  };
  EdgeIds(const Shard& shard, EdgeTypeId edge_type, Pairs pairs)
      : reader_(shard), edge_type_(edge_type), pairs_(std::move(pairs)) {}

  absl::StatusOr<Piece> Next(proto::EdgeIdsReply* reply, IsGone is_gone) override {
    std::vector<int64_t> found(std::min(pairs_.targets.size(), kPairsBetweenLooks));
    reply->mutable_edge_ids()->reserve(pairs_.targets.size() * sizeof(int64_t));
    for (size_t first = 0; first < pairs_.targets.size(); first += kPairsBetweenLooks) {
      if (is_gone()) return GoneError();
      const absl::Span<const uint64_t> targets = pairs_.targets.subspan(first, kPairsBetweenLooks);
      VICINITY_RETURN_IF_ERROR(reader_.FindEdges(
          edge_type_, pairs_.sources.subspan(first, kPairsBetweenLooks), targets, found.data()));
      reply->mutable_edge_ids()->append(reinterpret_cast<const char*>(found.data()),
                                        targets.size() * sizeof(int64_t));
    }
    return is_gone() ? absl::StatusOr<Piece>(GoneError()) : Piece::kLast;
  }

 private:
  const ShardReader reader_;
  const EdgeTypeId edge_type_;
  const Pairs pairs_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkSource<proto::EdgeIdsReply>>> FetchEdgeIds(
    const ServerState& state, const proto::EdgeIdsRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(const Shard* shard,
                            FindShard(state, request.fingerprint(), request.shard()));
  const Schema& schema = state.dataset->schema();
  VICINITY_ASSIGN_OR_RETURN(const EdgeTypeId type, FindEdgeType(schema, request.edge_type()));
  EdgeIds::Pairs pairs;
  VICINITY_ASSIGN_OR_RETURN(
      pairs.sources, ReadIds("sources", request.sources(), state.limits, &pairs.copied_sources));
  VICINITY_ASSIGN_OR_RETURN(
      pairs.targets, ReadIds("targets", request.targets(), state.limits, &pairs.copied_targets));
  if (pairs.sources.size() != pairs.targets.size()) {
    return absl::InvalidArgumentError(absl::StrCat(pairs.sources.size(), " sources and ",
                                                   pairs.targets.size(),
                                                   " targets: a pair has one of each"));
  }
  const NodeTypeId target{schema.edge_types[type.value].target_type};
  VICINITY_RETURN_IF_ERROR(CheckRows(pairs.targets, ShardReader(*shard).num_nodes(target), *shard,
                                     schema.node_types[target.value].name));
  return std::make_unique<EdgeIds>(*shard, type, std::move(pairs));
}

int64_t ReplyBytes(const ServerState&, const proto::EdgeIdsRequest& request) {
  return static_cast<int64_t>(request.targets().size());
}

}  // namespace vicinity

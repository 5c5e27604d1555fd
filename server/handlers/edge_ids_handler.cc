#include "server/handlers/edge_ids_handler.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

// Some milliseconds' work at most: pairs, and edges of their lists, of which those of a long one
// are looked at once.
constexpr size_t kPairsBetweenLooks = 1024;
constexpr int64_t kEdgesBetweenLooks = int64_t{1} << 22;
constexpr int64_t kLongList = 1024;

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
  EdgeIds(ShardReader reader, EdgeTypeId edge_type, Pairs pairs)
      : reader_(std::move(reader)), edge_type_(edge_type), pairs_(std::move(pairs)) {}

  absl::StatusOr<Piece> Next(proto::EdgeIdsReply* reply, IsGone is_gone) override {
    reply->set_version(reader_.version());
    reply->set_term(reader_.term());
    std::vector<int64_t> found(std::min(pairs_.targets.size(), kPairsBetweenLooks));
    reply->mutable_edge_ids()->reserve(pairs_.targets.size() * sizeof(int64_t));
    for (size_t first = 0, count = 0; first < pairs_.targets.size(); first += count) {
      if (is_gone()) return GoneError();
      VICINITY_ASSIGN_OR_RETURN(count, CountBetweenLooks(first));
      VICINITY_RETURN_IF_ERROR(reader_.FindEdges(edge_type_, pairs_.sources.subspan(first, count),
                                                 pairs_.targets.subspan(first, count),
                                                 found.data()));
      reply->mutable_edge_ids()->append(reinterpret_cast<const char*>(found.data()),
                                        count * sizeof(int64_t));
    }
    return is_gone() ? absl::StatusOr<Piece>(GoneError()) : Piece::kLast;
  }

 private:
  // Of the pairs from `first` on; at least one.
  absl::StatusOr<size_t> CountBetweenLooks(size_t first) const {
    const absl::Span<const uint64_t> targets = pairs_.targets.subspan(first, kPairsBetweenLooks);
    absl::flat_hash_set<uint64_t> long_ones;
    int64_t edges = 0;
    size_t count = 0;
    VICINITY_RETURN_IF_ERROR(reader_.ReadDegrees(
        edge_type_, targets,
        [&] {
          long_ones.clear();
          edges = 0;
          count = 0;
        },
        [&](size_t i, int64_t degree) {
          if (degree <= kLongList || long_ones.insert(targets[i]).second) edges += degree;
          if (edges > kEdgesBetweenLooks && count > 0) return false;
          ++count;
          return true;
        }));
    return count;
  }

  const ShardReader reader_;
  const EdgeTypeId edge_type_;
  const Pairs pairs_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkSource<proto::EdgeIdsReply>>> FetchEdgeIds(
    const ServerState& state, const proto::EdgeIdsRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(ShardReader reader, FindReader(state, request));
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
  VICINITY_RETURN_IF_ERROR(CheckRows(pairs.targets, reader.num_nodes(target), reader.shard(),
                                     schema.node_types[target.value].name));
  return std::make_unique<EdgeIds>(std::move(reader), type, std::move(pairs));
}

int64_t ReplyBytes(const ServerState&, const proto::EdgeIdsRequest& request) {
  return static_cast<int64_t>(request.targets().size());
}

}  // namespace vicinity

#include "server/handlers/reply_size.h"

#include <algorithm>
#include <cstddef>

#include "partition/dataset/book.h"
#include "partition/dataset/sampling_spec.h"
#include "partition/dataset/schema.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"

namespace vicinity {
namespace {

using Wide = unsigned __int128;

constexpr int64_t kIdBytes = 8;
constexpr int64_t kCountBytes = 4;
constexpr int64_t kNameBytes = 32;
constexpr int64_t kRankedBytes = 12;  // an id and a probability

int64_t Clamp(Wide bytes) { return static_cast<int64_t>(std::min<Wide>(bytes, Wide{INT64_MAX})); }

// The bytes of a row of one of `types`, of nodes or edges; 0 for a column that there is not.
template <typename Types>
int64_t RowBytes(const Types& types, const proto::RowsRequest& request) {
  const int32_t type = request.node_type();
  const int32_t column = request.column();
  if (type < 0 || type >= static_cast<int64_t>(types.size())) return 0;
  if (column == -1) return request.of_edges() ? 0 : kIdBytes;  // the keys
  const auto& columns = types[type].columns;
  if (column < 0 || column >= static_cast<int64_t>(columns.size())) return 0;
  return std::max<int64_t>(columns[column].row_bytes(), 0);
}

// Neighbours that a target has on average, rounded up; 0 where there are none.
int64_t MeanDegree(const Dataset& dataset, int32_t shard, int32_t edge_type) {
  const Shard* const found = dataset.shard(ShardId{shard});
  if (found == nullptr) return 0;
  const EdgeTable& edges = found->edges(EdgeTypeId{edge_type});
  if (edges.num_targets() <= 0) return 0;
  return (edges.num_edges() + edges.num_targets() - 1) / edges.num_targets();
}

}  // namespace

int64_t ReplyBytes(const Dataset& dataset, const proto::SampleRequest& request) {
  const Wide neighbor_bytes =
      kIdBytes * (1 + (request.want_edge_ids() ? 1 : 0) + (request.want_edge_positions() ? 1 : 0));
  const auto num_types = static_cast<int64_t>(dataset.schema().edge_types.size());
  Wide bytes = 0;
  for (const proto::SampleRequest::Relation& relation : request.relations()) {
    if (relation.edge_type() < 0 || relation.edge_type() >= num_types) return 0;
    const int64_t neighbors = relation.fanout() == kAllNeighbors
                                  ? MeanDegree(dataset, request.shard(), relation.edge_type())
                                  : std::clamp<int64_t>(relation.fanout(), 0, kMaxFanout);
    bytes += Wide{relation.num_targets()} * (kCountBytes + neighbors * neighbor_bytes);
  }
  return Clamp(bytes);
}

int64_t ReplyBytes(const Dataset& dataset, const proto::RowsRequest& request) {
  const Schema& schema = dataset.schema();
  const int64_t row_bytes = request.of_edges() ? RowBytes(schema.edge_types, request)
                                               : RowBytes(schema.node_types, request);
  const Wide rows = request.count() > 0 ? request.count() : request.rows().size() / kIdBytes;
  return Clamp(rows * row_bytes);
}

int64_t ReplyBytes(const Dataset&, const proto::NamesRequest& request) {
  return Clamp(Wide{request.rows().size() / kIdBytes} * kNameBytes);
}

int64_t ReplyBytes(const Dataset&, const proto::ResolveRequest& request) {
  return static_cast<int64_t>(request.keys().size());
}

int64_t ReplyBytes(const Dataset& dataset, const proto::RankingRequest& request) {
  const int32_t type = request.node_type();
  if (type < 0 || type >= static_cast<int64_t>(dataset.schema().node_types.size())) return 0;
  const auto nodes = static_cast<uint64_t>(dataset.book().num_nodes(NodeTypeId{type}));
  const uint64_t count = request.count() == 0 ? nodes : std::min(nodes, request.count());
  return Clamp(Wide{count} * kRankedBytes);
}

}  // namespace vicinity

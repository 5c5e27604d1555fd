#include "client/writes/node_counts.h"

#include <algorithm>
#include <set>

#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "partition/overlay/live_values.h"
#include "proto/common/status.h"

namespace vicinity {

NodeCounts::NodeCounts(const ShardRouter& router, const Book& book) : router_(router), book_(book) {
  for (int32_t type = 0; type < book.num_node_types(); ++type) {
    for (int32_t shard = 0; shard < book.num_shards(); ++shard) {
      counts_.push_back(book.num_nodes({type}, {shard}));
    }
  }
}

std::vector<ShardId> NodeCounts::UnknownOf(NodeTypeId type, absl::Span<const int64_t> nodes) {
  std::set<int32_t> shards;
  MutexLock lock(&mu_);
  for (const int64_t node : nodes) {
    const Book::Place place = book_.PlaceOf(type, GlobalNode{node});
    if (place.row.value >= CountOf(type, place.shard)) shards.insert(place.shard.value);
  }
  std::vector<ShardId> unknown;
  for (const int32_t shard : shards) unknown.push_back({shard});
  return unknown;
}

absl::StatusOr<std::vector<char>> NodeCounts::AreThere(NodeTypeId type,
                                                       absl::Span<const int64_t> nodes,
                                                       const CallContext& context) {
  const std::vector<ShardId> unknown = UnknownOf(type, nodes);
  std::vector<ShardVersion> sizes(unknown.size());
  FanOut calls;
  for (size_t i = 0; i < unknown.size(); ++i) {
    router_.shard(unknown[i]).Ask(ShardBarrier{&sizes[i]}, context, calls.Add());
  }
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  MutexLock lock(&mu_);
  for (size_t i = 0; i < unknown.size(); ++i) {
    int64_t& count = CountOf(type, unknown[i]);
    count = std::max(count, sizes[i].num_nodes[type.value]);
  }
  std::vector<char> there;
  there.reserve(nodes.size());
  for (const int64_t node : nodes) {
    const Book::Place place = book_.PlaceOf(type, GlobalNode{node});
    there.push_back(place.row.value < CountOf(type, place.shard));
  }
  return there;
}

void NodeCounts::OnNew(NodeTypeId type, absl::Span<const int64_t> nodes) {
  MutexLock lock(&mu_);
  for (const int64_t node : nodes) {
    if (node < 0) continue;
    const Book::Place place = book_.PlaceOf(type, GlobalNode{node});
    int64_t& count = CountOf(type, place.shard);
    count = std::max(count, place.row.value + 1);
  }
}

}  // namespace vicinity

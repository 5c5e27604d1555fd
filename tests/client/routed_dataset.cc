#include "tests/client/routed_dataset.h"

#include <algorithm>
#include <utility>

#include "client/shards/mapped_shard.h"
#include "client/shards/shard_access.h"
#include "partition/dataset/ranking.h"

namespace vicinity::testing {

std::unique_ptr<ShardRouter> RouteDataset(const Dataset& dataset, absl::Span<const int32_t> far,
                                          TrafficCounters* traffic, Faults* faults) {
  std::vector<std::unique_ptr<ShardAccess>> shards;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    std::unique_ptr<ShardAccess> access = MakeMappedShard(dataset, *shard, traffic);
    if (std::find(far.begin(), far.end(), shard->id().value) != far.end()) {
      access = std::make_unique<FarShard>(std::move(access), faults);
    }
    shards.push_back(std::move(access));
  }
  return std::make_unique<ShardRouter>(dataset.schema(), dataset.book(), std::move(shards),
                                       HomesOfRankings(dataset.manifest().rankings()));
}

}  // namespace vicinity::testing

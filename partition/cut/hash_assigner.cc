#include "partition/cut/hash_assigner.h"

#include <memory>
#include <string_view>

#include "partition/cut/node_facts.h"
#include "partition/dataset/shard.h"
#include "proto/common/checksum.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

int32_t ShardOfKey(uint64_t key, int32_t type, int32_t num_shards) {
  const std::string_view bytes(reinterpret_cast<const char*>(&key), sizeof(key));
  // Seeded by the type, so that nodes of two types with the same id go separate ways. The high bits
  // of the product choose evenly for any number of shards.
  const uint64_t hash = Checksum(bytes, static_cast<uint64_t>(type) + 1);
  return static_cast<int32_t>((static_cast<unsigned __int128>(hash) * num_shards) >> 64);
}

}  // namespace

WorkEstimate HashAssigner::Estimate(const Dataset& dataset, int32_t /*num_shards*/) const {
  WorkEstimate estimate;
  estimate.memory_bytes = NumNodes(dataset) * static_cast<int64_t>(sizeof(int32_t));
  return estimate;
}

absl::StatusOr<Assignment> HashAssigner::Assign(const Dataset& dataset, int32_t num_shards,
                                                Progress* /*progress*/) {
  VICINITY_RETURN_IF_ERROR(CheckAssignable(dataset, num_shards));
  Assignment assignment = MakeAssignment(dataset, num_shards);
  for (int32_t t = 0; t < dataset.book().num_node_types(); ++t) {
    int64_t node = 0;
    for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
      for (const uint64_t key : shard->nodes(NodeTypeId{t}).keys) {
        assignment.shard_of[t][node++] = ShardOfKey(key, t, num_shards);
      }
    }
  }
  return assignment;
}

}  // namespace vicinity

#include "partition/dataset/stretch.h"

#include <algorithm>
#include <memory>

#include "proto/common/ids.h"

namespace vicinity {
namespace {

// Enough for a thread's start to vanish in the work, few enough to keep all threads busy to the
// end.
constexpr int64_t kRows = 1 << 15;

void AddStretches(const Shard* shard, int32_t type, int64_t num_rows,
                  std::vector<Stretch>* stretches) {
  int64_t begin = 0;
  do {
    const int64_t end = std::min(begin + kRows, num_rows);
    stretches->push_back({shard, type, begin, end});
    begin = end;
  } while (begin < num_rows);
}

}  // namespace

std::vector<Stretch> NodeStretches(const Dataset& dataset) {
  std::vector<Stretch> stretches;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (int32_t t = 0; t < static_cast<int32_t>(dataset.schema().node_types.size()); ++t) {
      AddStretches(shard.get(), t, shard->nodes(NodeTypeId{t}).num_nodes(), &stretches);
    }
  }
  return stretches;
}

std::vector<Stretch> EdgeStretches(const Dataset& dataset) {
  std::vector<Stretch> stretches;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (int32_t e = 0; e < static_cast<int32_t>(dataset.schema().edge_types.size()); ++e) {
      AddStretches(shard.get(), e, shard->edges(EdgeTypeId{e}).num_targets(), &stretches);
    }
  }
  return stretches;
}

}  // namespace vicinity

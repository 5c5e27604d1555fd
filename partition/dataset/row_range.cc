#include "partition/dataset/row_range.h"

#include <algorithm>
#include <memory>

#include "proto/common/ids.h"

namespace vicinity {
namespace {

// Enough for a thread's start to vanish in the work, few enough to keep all threads busy to the
// end.
constexpr int64_t kRows = 1 << 15;

void AddRanges(const Shard* shard, int32_t type, int64_t num_rows, std::vector<RowRange>* ranges) {
  int64_t begin = 0;
  do {
    const int64_t end = std::min(begin + kRows, num_rows);
    ranges->push_back({shard, type, begin, end});
    begin = end;
  } while (begin < num_rows);
}

}  // namespace

std::vector<RowRange> NodeRanges(const Dataset& dataset) {
  std::vector<RowRange> ranges;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (int32_t t = 0; t < static_cast<int32_t>(dataset.schema().node_types.size()); ++t) {
      AddRanges(shard.get(), t, shard->nodes(NodeTypeId{t}).num_nodes(), &ranges);
    }
  }
  return ranges;
}

std::vector<RowRange> EdgeRanges(const Dataset& dataset) {
  std::vector<RowRange> ranges;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (int32_t e = 0; e < static_cast<int32_t>(dataset.schema().edge_types.size()); ++e) {
      AddRanges(shard.get(), e, shard->edges(EdgeTypeId{e}).num_targets(), &ranges);
    }
  }
  return ranges;
}

}  // namespace vicinity

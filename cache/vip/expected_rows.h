// How many remote rows a batch is expected to fetch, for a cache of any size: what a partition
// report and a plan are made of.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "cache/vip/vip.h"
#include "proto/common/ids.h"

namespace vicinity {

// Made of the probabilities that a batch needs each remote node. A cache that holds the likeliest C
// of them leaves the sum of the others to be fetched.
//
// Threads: immutable; any number may read. Memory: 8 bytes a node with a probability above 0.
class MissCurve {
 public:
  // `probabilities`: of the remote nodes, in any order.
  explicit MissCurve(std::vector<float> probabilities);

  int64_t num_nodes() const { return static_cast<int64_t>(beyond_.size()) - 1; }

  // Expected rows a batch fetches with this many of the likeliest rows cached; 0 rows: no cache.
  double RowsPerBatch(int64_t cache_rows) const;

  // The smallest cache that leaves at most `rows` to be fetched.
  int64_t CacheFor(double rows) const;

 private:
  std::vector<double> beyond_;  // [c]: the sum of all but the c highest; falling, ends with 0
};

// True for the nodes that a trainer need not fetch: those of its home shards.
using IsLocal = std::function<bool(NodeTypeId, GlobalNode)>;

// Of one home's scores: of all node types in `types` (empty: of every type), the nodes that are not
// local.
MissCurve RemoteRows(const VipScores& scores, int32_t home, absl::Span<const NodeTypeId> types,
                     const IsLocal& is_local);

}  // namespace vicinity

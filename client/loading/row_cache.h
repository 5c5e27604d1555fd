// The row cache of a trainer: how many remote rows of each type it may hold, and which at first.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/pool/row_pool.h"
#include "client/loading/likeliest_nodes.h"
#include "client/shards/shard_router.h"
#include "proto/common/ids.h"

namespace vicinity {

struct CacheOptions {
  std::string ranking;
  SeedShards seeds;
  std::vector<NodeTypeId> types;   // whose rows are wanted, each once
  std::vector<int64_t> row_costs;  // of each of them, at least 1; empty: 1 each
  int64_t capacity = 0;            // the most that the rows held may cost together
};

// By node type.
struct CacheRows {
  std::vector<int64_t> capacity;  // rows
  // Remote nodes, likeliest first: the first `capacity` are held at first, and about as many more
  // are there to tell which rows have a better claim later.
  std::vector<std::vector<int64_t>> ranked;
};

// The likeliest rows of all the types together, as far as all of them fit; what room they leave is
// dealt to the types as their other remote nodes would need it. Errors as FetchLikeliest's.
absl::StatusOr<CacheRows> ChooseCached(const ShardRouter& router, const CacheOptions& options);

// Without a ranking: all the room is dealt so.
CacheRows DealCache(const ShardRouter& router, const CacheOptions& options);

// Fetches one column's rows, each time it is asked. Lifetime: the router must outlive it.
FillRows FetchingColumn(const ShardRouter& router, NodeTypeId type, int32_t column);

// A pool in host memory for one column: `capacity` rows, at first those of the first `ranked`
// nodes, fetched here and now.
absl::StatusOr<std::unique_ptr<RowPool>> FillPool(const ShardRouter& router, NodeTypeId type,
                                                  int32_t column, int64_t capacity,
                                                  absl::Span<const int64_t> ranked);

}  // namespace vicinity

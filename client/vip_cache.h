// The row cache of a trainer: which remote rows it holds at first, and pools filled with them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/row_pool.h"
#include "client/shard_router.h"
#include "proto/common/ids.h"

namespace vicinity {

struct CacheOptions {
  std::string ranking;
  std::vector<int32_t> home;       // rising shards
  std::vector<NodeTypeId> types;   // whose rows are wanted, each once
  std::vector<int64_t> row_costs;  // of each of them, at least 1; empty: 1 each
  int64_t capacity = 0;            // the most that the rows held may cost together
};

// By node type, the remote nodes to hold: the likeliest of all the types together, likeliest first,
// as far as all of them fit. Errors as FetchRanking's.
absl::StatusOr<std::vector<std::vector<int64_t>>> ChooseCached(const ShardRouter& router,
                                                               const CacheOptions& options);

// What a cache begins with, by node type: the rows that it holds and, where it changes them, the
// rows that it ranks, the same and more. Likeliest first.
struct CacheRows {
  std::vector<std::vector<int64_t>> held;
  std::vector<std::vector<int64_t>> ranked;
};

// Fetches one column's rows, each time it is asked. Lifetime: the router must outlive it.
FillRows FetchingColumn(const ShardRouter& router, NodeTypeId type, int32_t column);

// A pool with one column's rows of `nodes`, fetched here and now.
absl::StatusOr<std::unique_ptr<RowPool>> FillPool(const ShardRouter& router, NodeTypeId type,
                                                  int32_t column, absl::Span<const int64_t> nodes);

// A look-ahead pool for one column: `capacity` rows, at first those of the first `ranked` nodes,
// fetched here and now.
absl::StatusOr<std::unique_ptr<RowPool>> FillLookAheadPool(const ShardRouter& router,
                                                           NodeTypeId type, int32_t column,
                                                           int64_t capacity,
                                                           absl::Span<const int64_t> ranked);

}  // namespace vicinity

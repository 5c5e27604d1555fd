#include "client/vip_cache.h"

#include <algorithm>
#include <utility>

#include "cache/look_ahead_pool.h"
#include "cache/row_pool.h"
#include "cache/static_pool.h"
#include "client/lookups.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

struct Candidate {
  float probability;
  NodeTypeId type;
  int64_t node;
  int64_t cost;
};

int64_t NumLocal(const ShardRouter& router, NodeTypeId type) {
  int64_t num_nodes = 0;
  for (int32_t s = 0; s < router.book().num_shards(); ++s) {
    if (router.IsLocal(ShardId{s})) num_nodes += router.book().num_nodes(type, ShardId{s});
  }
  return num_nodes;
}

}  // namespace

absl::StatusOr<std::vector<std::vector<int64_t>>> ChooseCached(const ShardRouter& router,
                                                               const CacheOptions& options) {
  std::vector<std::vector<int64_t>> chosen(router.schema().node_types.size());
  std::vector<Candidate> candidates;
  for (size_t t = 0; t < options.types.size(); ++t) {
    const NodeTypeId type = options.types[t];
    const int64_t cost = options.row_costs.empty() ? 1 : options.row_costs[t];
    // However many of the first are local, this many hold enough that are not: as many as could
    // fit and one that could not.
    const int64_t num_local = NumLocal(router, type);
    const int64_t count = num_local + std::min(options.capacity / cost + 1,
                                               router.book().num_nodes(type) - num_local);
    if (count == 0) continue;
    VICINITY_ASSIGN_OR_RETURN(const RankedNodes ranked,
                              FetchRanking(router, options.ranking, options.home, type, count));
    for (size_t i = 0; i < ranked.nodes.size(); ++i) {
      const GlobalNode node{ranked.nodes[i]};
      if (router.IsLocal(router.book().OwnerOf(type, node))) continue;
      candidates.push_back({ranked.probabilities[i], type, node.value, cost});
    }
  }
  // Each type's come in order; equal ones stay as they are.
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.probability > b.probability; });
  int64_t room = options.capacity;
  for (const Candidate& candidate : candidates) {
    if (candidate.cost > room) break;
    room -= candidate.cost;
    chosen[candidate.type.value].push_back(candidate.node);
  }
  return chosen;
}

FillRows FetchingColumn(const ShardRouter& router, NodeTypeId type, int32_t column) {
  return [&router, type, column](absl::Span<const int64_t> ids, char* out) {
    const ColumnFetch fetch{type, column, ids, {}, out};
    return router.FetchRows({fetch}, nullptr);
  };
}

absl::StatusOr<std::unique_ptr<RowPool>> FillPool(const ShardRouter& router, NodeTypeId type,
                                                  int32_t column, absl::Span<const int64_t> nodes) {
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<StaticPool> pool,
                            StaticPool::Create(router.RowBytes(type, column), nodes,
                                               FetchingColumn(router, type, column)));
  return std::unique_ptr<RowPool>(std::move(pool));
}

absl::StatusOr<std::unique_ptr<RowPool>> FillLookAheadPool(const ShardRouter& router,
                                                           NodeTypeId type, int32_t column,
                                                           int64_t capacity,
                                                           absl::Span<const int64_t> ranked) {
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<LookAheadPool> pool,
                            LookAheadPool::Create(router.RowBytes(type, column), capacity, ranked,
                                                  FetchingColumn(router, type, column)));
  return std::unique_ptr<RowPool>(std::move(pool));
}

}  // namespace vicinity

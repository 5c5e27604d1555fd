#include "client/loading/row_cache.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cache/pool/look_ahead_pool.h"
#include "cache/pool/row_pool.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// How many rows are ranked for one that is held.
constexpr int64_t kRankedShare = 2;

struct Candidate {
  float probability;
  NodeTypeId type;
  int64_t node;
  int64_t cost;
};

int64_t CostOf(const CacheOptions& options, size_t t) {
  return options.row_costs.empty() ? 1 : options.row_costs[t];
}

int64_t NumLocal(const ShardRouter& router, NodeTypeId type) {
  int64_t num_nodes = 0;
  for (int32_t s = 0; s < router.book().num_shards(); ++s) {
    if (router.IsLocal(ShardId{s})) num_nodes += router.book().num_nodes(type, ShardId{s});
  }
  return num_nodes;
}

int64_t NumRemote(const ShardRouter& router, NodeTypeId type) {
  return router.book().num_nodes(type) - NumLocal(router, type);
}

CacheRows NoRows(const ShardRouter& router) {
  CacheRows rows;
  rows.capacity.resize(router.schema().node_types.size(), 0);
  rows.ranked.resize(rows.capacity.size());
  return rows;
}

// Remote nodes of all types that are ranked, likeliest first, and of each type as many as could be
// held and ranked.
absl::StatusOr<std::vector<Candidate>> FetchCandidates(const ShardRouter& router,
                                                       const CacheOptions& options) {
  std::vector<Candidate> candidates;
  for (size_t t = 0; t < options.types.size(); ++t) {
    const NodeTypeId type = options.types[t];
    const int64_t cost = CostOf(options, t);
    // However many of the first are local, this many hold enough that are not.
    const int64_t num_remote = NumRemote(router, type);
    const int64_t most_held = std::min(options.capacity / cost, num_remote);
    // One that is not there is an error, whether anything is remote or not.
    const int64_t count = num_remote == 0 ? 1
                                          : NumLocal(router, type) +
                                                std::min(kRankedShare * most_held + 1, num_remote);
    VICINITY_ASSIGN_OR_RETURN(const RankedNodes ranked,
                              FetchLikeliest(router, options.ranking, options.seeds, type, count));
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
  return candidates;
}

// Deals `room` to the types, in proportion to what their rows that have none would cost.
void DealRoom(const ShardRouter& router, const CacheOptions& options, int64_t room,
              CacheRows* rows) {
  double wanted = 0;
  for (size_t t = 0; t < options.types.size(); ++t) {
    const int64_t left =
        NumRemote(router, options.types[t]) - rows->capacity[options.types[t].value];
    wanted += static_cast<double>(left) * static_cast<double>(CostOf(options, t));
  }
  if (wanted <= 0) return;
  const double share = std::min(1.0, static_cast<double>(room) / wanted);
  for (size_t t = 0; t < options.types.size(); ++t) {
    int64_t& capacity = rows->capacity[options.types[t].value];
    const int64_t left = NumRemote(router, options.types[t]) - capacity;
    const auto dealt = static_cast<int64_t>(share * static_cast<double>(left));
    capacity += std::min(dealt, room / CostOf(options, t));
    room -= std::min(dealt, room / CostOf(options, t)) * CostOf(options, t);
  }
}

}  // namespace

absl::StatusOr<CacheRows> ChooseCached(const ShardRouter& router, const CacheOptions& options) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates,
                            FetchCandidates(router, options));
  CacheRows rows = NoRows(router);
  int64_t room = options.capacity;
  size_t num_held = 0;
  while (num_held < candidates.size() && candidates[num_held].cost <= room) {
    room -= candidates[num_held].cost;
    ++rows.capacity[candidates[num_held++].type.value];
  }
  const size_t num_ranked = std::min(candidates.size(), kRankedShare * num_held);
  for (size_t i = 0; i < num_ranked; ++i) {
    rows.ranked[candidates[i].type.value].push_back(candidates[i].node);
  }
  if (num_held == candidates.size()) DealRoom(router, options, room, &rows);
  return rows;
}

CacheRows DealCache(const ShardRouter& router, const CacheOptions& options) {
  CacheRows rows = NoRows(router);
  DealRoom(router, options, options.capacity, &rows);
  return rows;
}

FillRows FetchingColumn(const ShardRouter& router, NodeTypeId type, int32_t column) {
  return [&router, type, column](absl::Span<const int64_t> ids, char* out) {
    const ColumnFetch fetch{type, column, ids, {}, out};
    return router.FetchRows({fetch}, nullptr);
  };
}

absl::StatusOr<std::unique_ptr<RowPool>> FillPool(const ShardRouter& router, NodeTypeId type,
                                                  int32_t column, int64_t capacity,
                                                  absl::Span<const int64_t> ranked) {
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<LookAheadPool> pool,
                            LookAheadPool::Create(router.RowBytes(type, column), capacity, ranked,
                                                  FetchingColumn(router, type, column)));
  return std::unique_ptr<RowPool>(std::move(pool));
}

}  // namespace vicinity

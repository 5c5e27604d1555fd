#include "client/loading/likeliest_nodes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/shards/lookups.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// The chance that one of `share` of a batch's seeds leads to the node, as a sum of logarithms.
double Claim(float probability, double share) {
  constexpr double kSure = 1 - 0x1p-24;  // floats have no value between it and 1
  return -share * std::log1p(-std::min<double>(probability, kSure));
}

const std::vector<std::vector<int32_t>>* FindHomes(const ShardRouter& router,
                                                   const std::string& name) {
  for (const RankingHomes& ranking : router.rankings()) {
    if (ranking.name == name) return &ranking.homes;
  }
  return nullptr;
}

// For each home that is needed, what part of the seeds it stands for: every shard is in the
// smallest home that has it. Empty if one is in none.
std::map<std::vector<int32_t>, double> CoverSeeds(absl::Span<const std::vector<int32_t>> homes,
                                                  const SeedShards& seeds) {
  std::map<std::vector<int32_t>, double> shares;
  for (size_t s = 0; s < seeds.shards.size(); ++s) {
    const std::vector<int32_t>* smallest = nullptr;
    for (const std::vector<int32_t>& home : homes) {
      if (!std::binary_search(home.begin(), home.end(), seeds.shards[s])) continue;
      if (smallest == nullptr || home.size() < smallest->size()) smallest = &home;
    }
    if (smallest == nullptr) return {};
    shares[*smallest] += seeds.shares[s];
  }
  return shares;
}

absl::StatusOr<RankedNodes> FetchAndMix(const ShardRouter& router, const std::string& ranking,
                                        const std::map<std::vector<int32_t>, double>& shares,
                                        NodeTypeId type, int64_t count) {
  absl::flat_hash_map<int64_t, double> claims;
  for (const auto& [home, share] : shares) {
    VICINITY_ASSIGN_OR_RETURN(const RankedNodes ranked,
                              FetchRanking(router, ranking, home, type, count));
    for (size_t i = 0; i < ranked.nodes.size(); ++i) {
      claims[ranked.nodes[i]] += Claim(ranked.probabilities[i], share);
    }
  }
  std::vector<std::pair<double, int64_t>> order;  // likeliest first, then by id
  order.reserve(claims.size());
  for (const auto& [node, claim] : claims) order.emplace_back(-claim, node);
  const auto end = order.begin() + std::min<int64_t>(count, static_cast<int64_t>(order.size()));
  std::partial_sort(order.begin(), end, order.end());
  RankedNodes mixed;
  for (auto it = order.begin(); it != end; ++it) {
    mixed.nodes.push_back(it->second);
    mixed.probabilities.push_back(static_cast<float>(-std::expm1(it->first)));
  }
  return mixed;
}

}  // namespace

SeedShards SeedShardsOf(const ShardRouter& router, absl::Span<const NodeTypeId> types,
                        absl::Span<const int64_t> seeds) {
  std::vector<int64_t> counts(router.book().num_shards(), 0);
  for (size_t i = 0; i < seeds.size(); ++i) {
    ++counts[router.book().OwnerOf(types[i % types.size()], {seeds[i]}).value];
  }
  SeedShards result;
  for (int32_t shard = 0; shard < router.book().num_shards(); ++shard) {
    if (counts[shard] == 0) continue;
    result.shards.push_back(shard);
    result.shares.push_back(static_cast<double>(counts[shard]) / static_cast<double>(seeds.size()));
  }
  return result;
}

absl::StatusOr<RankedNodes> FetchLikeliest(const ShardRouter& router, const std::string& ranking,
                                           const SeedShards& seeds, NodeTypeId type,
                                           int64_t count) {
  if (seeds.shards.empty()) return absl::NotFoundError("this trainer has no seeds to rank by");
  const std::vector<std::vector<int32_t>>* const homes = FindHomes(router, ranking);
  std::map<std::vector<int32_t>, double> shares;
  if (homes != nullptr && std::find(homes->begin(), homes->end(), seeds.shards) == homes->end()) {
    shares = CoverSeeds(*homes, seeds);
  }
  // Where there is none this says which there are.
  absl::StatusOr<RankedNodes> ranked =
      shares.empty() ? FetchRanking(router, ranking, seeds.shards, type, count)
                     : FetchAndMix(router, ranking, shares, type, count);
  if (!absl::IsNotFound(ranked.status())) return ranked;
  return absl::NotFoundError(absl::StrCat(
      ranked.status().message(), "; `vicinity rank` with --name ", ranking,
      " and no --homes makes one for each shard, which is all that trainers of any home need"));
}

}  // namespace vicinity

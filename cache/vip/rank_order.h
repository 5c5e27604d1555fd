// From VIP scores to orders of nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "cache/vip/vip.h"
#include "partition/dataset/ranking.h"

namespace vicinity {

// orders[home][type], as WriteRanking takes them: the nodes with a score above 0, the highest
// first, equal ones by global id.
std::vector<std::vector<RankedNodes>> RankOrders(const VipScores& scores);

// result[type][node]: the node's score for the home that owns it, as OrderNodes takes them;
// shard_of[type][node] says which home that is.
std::vector<std::vector<float>> OwnScores(const VipScores& scores,
                                          absl::Span<const std::vector<int32_t>> shard_of);

}  // namespace vicinity

#include "cache/vip/rank_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "cache/vip/vip.h"
#include "partition/dataset/ranking.h"
#include "proto/common/ids.h"

namespace vicinity {
namespace {

RankedNodes RankType(const VipScores& scores, int32_t home, NodeTypeId type, int64_t num_nodes) {
  RankedNodes ranked;
  for (int64_t node = 0; node < num_nodes; ++node) {
    if (scores.at(type, {node}, home) > 0) ranked.nodes.push_back(node);
  }
  std::sort(ranked.nodes.begin(), ranked.nodes.end(), [&](int64_t a, int64_t b) {
    const float score_a = scores.at(type, {a}, home);
    const float score_b = scores.at(type, {b}, home);
    return score_a != score_b ? score_a > score_b : a < b;
  });
  ranked.probabilities.reserve(ranked.nodes.size());
  for (const int64_t node : ranked.nodes) {
    ranked.probabilities.push_back(scores.at(type, {node}, home));
  }
  return ranked;
}

}  // namespace

std::vector<std::vector<RankedNodes>> RankOrders(const VipScores& scores) {
  std::vector<std::vector<RankedNodes>> orders(scores.num_homes);
  for (int32_t home = 0; home < scores.num_homes; ++home) {
    for (size_t type = 0; type < scores.values.size(); ++type) {
      const int64_t num_nodes = static_cast<int64_t>(scores.values[type].size()) / scores.num_homes;
      orders[home].push_back(RankType(scores, home, {static_cast<int32_t>(type)}, num_nodes));
    }
  }
  return orders;
}

std::vector<std::vector<float>> OwnScores(const VipScores& scores,
                                          absl::Span<const std::vector<int32_t>> shard_of) {
  std::vector<std::vector<float>> own(shard_of.size());
  for (size_t type = 0; type < shard_of.size(); ++type) {
    own[type].reserve(shard_of[type].size());
    for (size_t node = 0; node < shard_of[type].size(); ++node) {
      own[type].push_back(scores.at({static_cast<int32_t>(type)}, {static_cast<int64_t>(node)},
                                    shard_of[type][node]));
    }
  }
  return own;
}

}  // namespace vicinity

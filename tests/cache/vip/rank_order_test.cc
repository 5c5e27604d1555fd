#include "cache/vip/rank_order.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "cache/vip/vip.h"
#include "partition/dataset/ranking.h"

namespace vicinity {
namespace {

// Two homes; three nodes of type 0, two of type 1, none of type 2.
VipScores SmallScores() {
  VipScores scores;
  scores.num_homes = 2;
  scores.values = {{0.5f, 0.25f, 0.0f, 1.0f, 0.5f, 1e-30f}, {0.1f, 0.0f, 0.2f, 0.0f}, {}};
  return scores;
}

TEST_CASE("a ranking lists what may be needed, likeliest first, ties by id", "[rank_order]") {
  const std::vector<std::vector<RankedNodes>> orders = RankOrders(SmallScores());
  REQUIRE(orders.size() == 2);
  REQUIRE(orders[0].size() == 3);
  CHECK(orders[0][0].nodes == std::vector<int64_t>{0, 2});
  CHECK(orders[0][0].probabilities == std::vector<float>{0.5f, 0.5f});
  CHECK(orders[1][0].nodes == std::vector<int64_t>{1, 0, 2});
  CHECK(orders[1][0].probabilities == std::vector<float>{1.0f, 0.25f, 1e-30f});
  CHECK(orders[0][1].nodes == std::vector<int64_t>{1, 0});
  CHECK(orders[1][1].nodes.empty());
  CHECK(orders[0][2].nodes.empty());
  CHECK(RankOrders(VipScores()).empty());
}

TEST_CASE("a node's own score is that of the home that owns it", "[rank_order]") {
  const std::vector<std::vector<int32_t>> shard_of = {{1, 0, 1}, {0, 1}, {}};
  CHECK(OwnScores(SmallScores(), shard_of) ==
        std::vector<std::vector<float>>{{0.25f, 0.0f, 1e-30f}, {0.1f, 0.0f}, {}});
}

}  // namespace
}  // namespace vicinity

#include "client/loading/likeliest_nodes.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "partition/dataset/ranking.h"
#include "proto/manifest.pb.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr NodeTypeId kUser{0};

// A probability that differs from node to node and from home to home.
float ProbabilityOf(int64_t position, int32_t home) {
  return static_cast<float>(1.0 / (1 + (position * (7 + 2 * home) + 31 * home) % 101));
}

// For every shard alone; the first has a node that is needed for sure.
std::vector<std::map<int64_t, float>> RankEachShard(RoutedGraph* graph) {
  std::vector<std::map<int64_t, float>> by_home(graph->router().book().num_shards());
  graph->Rank("default", [&](int32_t home, int64_t position, int64_t node) {
    // Users come first; other types' nodes of the same numbers get the same.
    return by_home[home].emplace(node, ProbabilityOf(position, home)).first->second;
  });
  return by_home;
}

TEST_CASE("seeds are counted by the shards they are in", "[likeliest_nodes]") {
  const RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4);
  const Book& book = graph.router().book();
  std::vector<int64_t> seeds;
  for (const int64_t node : graph.GlobalIds(kUser)) {
    const int32_t shard = book.OwnerOf(kUser, {node}).value;
    if (shard == 1) seeds.push_back(node);
    if (shard == 3) seeds.insert(seeds.end(), {node, node});
  }
  const SeedShards shards = SeedShardsOf(graph.router(), {kUser}, seeds);
  CHECK(shards.shards == std::vector<int32_t>{1, 3});
  const auto ones = static_cast<double>(book.num_nodes(kUser, {1}));
  CHECK(shards.shares[0] == Approx(ones / static_cast<double>(seeds.size())));
  CHECK(shards.shares[0] + shards.shares[1] == Approx(1));
  CHECK(SeedShardsOf(graph.router(), {kUser}, {}).shards.empty());
}

TEST_CASE("rankings of single shards make one for seeds of several", "[likeliest_nodes]") {
  RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4);
  const std::vector<std::map<int64_t, float>> by_home = RankEachShard(&graph);
  const SeedShards seeds = {{0, 2}, {0.25, 0.75}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const RankedNodes all,
                                FetchLikeliest(graph.router(), "default", seeds, kUser, 100));
  REQUIRE(all.nodes.size() == 100);
  for (size_t i = 0; i < all.nodes.size(); ++i) {
    // One batch's seeds are so many draws from each shard.
    const double needed = 1 - std::pow(1 - by_home[0].at(all.nodes[i]), 0.25) *
                                  std::pow(1 - by_home[2].at(all.nodes[i]), 0.75);
    CHECK(all.probabilities[i] == Approx(needed).margin(2e-2));  // sure ones are nearly so
    if (i > 0) CHECK(all.probabilities[i] <= all.probabilities[i - 1]);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const RankedNodes one,
                                FetchLikeliest(graph.router(), "default", {{2}, {1.0}}, kUser, 7));
  REQUIRE(one.nodes.size() == 7);
  CHECK(one.probabilities[0] == by_home[2].at(one.nodes[0]));
}

TEST_CASE("where a shard is in homes of several, it goes by the smallest", "[likeliest_nodes]") {
  RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4);
  std::vector<std::map<int64_t, float>> by_home(2);
  const auto probability = [&](int32_t home, int64_t position, int64_t node) {
    return by_home[home].emplace(node, ProbabilityOf(position, home)).first->second;
  };
  graph.Rank("default", probability, {{0, 2}, {1, 3}});
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const RankedNodes all,
      FetchLikeliest(graph.router(), "default", {{0, 1, 2, 3}, {0.1, 0.2, 0.3, 0.4}}, kUser, 100));
  REQUIRE(all.nodes.size() == 100);
  for (size_t i = 0; i < all.nodes.size(); ++i) {
    const double needed = 1 - std::pow(1 - by_home[0].at(all.nodes[i]), 0.4) *
                                  std::pow(1 - by_home[1].at(all.nodes[i]), 0.6);
    CHECK(all.probabilities[i] == Approx(needed).margin(2e-2));
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const RankedNodes one,
                                FetchLikeliest(graph.router(), "default", {{3}, {1.0}}, kUser, 1));
  CHECK(one.probabilities[0] == Approx(by_home[1].at(one.nodes[0])).margin(1e-6));
}

TEST_CASE("a ranking for just these shards comes before one put together", "[likeliest_nodes]") {
  RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 3);
  graph.Rank("default");  // for all together, too: 1 / (1 + position)
  const SeedShards seeds = {{0, 1, 2}, {0.5, 0.25, 0.25}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const RankedNodes ranked,
                                FetchLikeliest(graph.router(), "default", seeds, kUser, 5));
  const std::vector<int64_t> ids = graph.GlobalIds(kUser);
  CHECK(ranked.nodes == std::vector<int64_t>(ids.begin(), ids.begin() + 5));
  CHECK(ranked.probabilities[4] == 0.2f);
}

TEST_CASE("who has no ranking is told how one is made", "[likeliest_nodes]") {
  const RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 2);
  const absl::Status missing =
      FetchLikeliest(graph.router(), "default", {{0, 1}, {0.5, 0.5}}, kUser, 5).status();
  VICINITY_CHECK_CODE(missing, absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(missing.message()), Catch::Contains("`vicinity rank`"));
  VICINITY_CHECK_CODE(FetchLikeliest(graph.router(), "default", {}, kUser, 5).status(),
                      absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity

#include "client/shards/split_nodes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

constexpr NodeTypeId kUser{0};

TEST_CASE("every node is local or remote, and a local one also with its shard", "[split_nodes]") {
  const std::vector<int32_t> remote = GENERATE(values<std::vector<int32_t>>(
      {{1, 3}, {3}, {0, 1}, {0, 1, 3}, {0, 1, 2, 3}, {}}));  // also side by side, one, none, all
  const testing::RoutedGraph graph(testing::TypedGraph(100, 80, 10, 3), 4, remote);
  const ShardRouter& router = graph.router();
  std::vector<int64_t> ids = graph.GlobalIds(kUser);
  ids.push_back(ids.front());
  const bool by_shard = GENERATE(false, true);
  const SplitNodes nodes = NearAndFar(router, kUser, ids, by_shard);
  REQUIRE(nodes.size() == 101);
  REQUIRE(nodes.home.size() == (by_shard ? 4 : 0));
  SplitNodes expected;
  expected.home.resize(4);
  for (size_t i = 0; i < ids.size(); ++i) {
    const ShardId owner = router.book().OwnerOf(kUser, {ids[i]});
    const bool local = std::find(remote.begin(), remote.end(), owner.value) == remote.end();
    (local ? expected.local : expected.remote).push_back(ids[i]);
    (local ? expected.local_positions : expected.remote_positions)
        .push_back(static_cast<int64_t>(i));
    if (!local) continue;
    expected.home[owner.value].rows.push_back(
        static_cast<int32_t>(router.book().RowOf(kUser, {ids[i]}).value));
    expected.home[owner.value].positions.push_back(static_cast<int64_t>(i));
  }
  CHECK(nodes.local == expected.local);
  CHECK(nodes.local_positions == expected.local_positions);
  CHECK(nodes.remote == expected.remote);
  CHECK(nodes.remote_positions == expected.remote_positions);
  for (size_t s = 0; s < nodes.home.size(); ++s) {
    CHECK(nodes.home[s].rows == expected.home[s].rows);
    CHECK(nodes.home[s].positions == expected.home[s].positions);
  }
}

TEST_CASE("no nodes are split into none", "[split_nodes]") {
  const testing::RoutedGraph graph(testing::TypedGraph(100, 80, 10, 3), 2, {1});
  CHECK(NearAndFar(graph.router(), kUser, {}, true).size() == 0);
}

}  // namespace
}  // namespace vicinity

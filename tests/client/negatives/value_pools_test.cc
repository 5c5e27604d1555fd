#include "client/negatives/value_pools.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/negatives/candidate_nodes.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr NodeTypeId kNode{0};

int32_t LabelOf(const RoutedGraph& graph, int64_t position) {
  const int column = graph.graph().schema.node_types[0].FindColumn("label");
  int32_t label = 0;
  std::memcpy(&label, graph.graph().row(kNode, column, position).data(), sizeof(label));
  return label;
}

std::set<int64_t> NodesOf(const CandidateNodes& pool) {
  return {pool.listed().begin(), pool.listed().end()};
}

TEST_CASE("each node's pool is of those that have its value, near and far", "[value_pools]") {
  const RoutedGraph graph(testing::RandomGraph({}), 3, {1});
  VICINITY_ASSERT_OK_AND_ASSIGN(const CandidateNodes all,
                                CandidateNodes::Uniform(graph.router(), kNode));
  VICINITY_ASSERT_OK_AND_ASSIGN(const ValuePools pools,
                                ValuePools::Make(graph.router(), all, "label", nullptr));
  const std::vector<int64_t> ids = graph.GlobalIds(kNode);
  std::map<int32_t, std::set<int64_t>> expected;
  for (size_t i = 0; i < ids.size(); ++i) expected[LabelOf(graph, i)].insert(ids[i]);
  REQUIRE(expected.size() > 2);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<const CandidateNodes*> of_ids,
                                pools.PoolsOf(ids, nullptr));
  for (size_t i = 0; i < ids.size(); ++i) {
    REQUIRE(of_ids[i] != nullptr);
    CHECK(NodesOf(*of_ids[i]) == expected[LabelOf(graph, i)]);
    CHECK(of_ids[i]->are_alike());
  }
}

TEST_CASE("nodes of a pool have the chances that they have among all", "[value_pools]") {
  const RoutedGraph graph(testing::RandomGraph({}), 2);
  const std::vector<int64_t> ids = graph.GlobalIds(kNode);  // keys are positions
  std::vector<double> weights;
  for (size_t i = 0; i < ids.size(); ++i) {
    weights.push_back(LabelOf(graph, i) == 2 ? 0 : static_cast<double>(i % 3));
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const CandidateNodes all,
                                CandidateNodes::ByWeights(graph.router(), kNode, weights));
  VICINITY_ASSERT_OK_AND_ASSIGN(const ValuePools pools,
                                ValuePools::Make(graph.router(), all, "label", nullptr));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<const CandidateNodes*> of_ids,
                                pools.PoolsOf(ids, nullptr));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (LabelOf(graph, i) == 2) {  // no node of it can be drawn
      CHECK(of_ids[i] == nullptr);
      continue;
    }
    for (int64_t place = 0; place < of_ids[i]->size(); ++place) {
      const int64_t position =
          graph.placement().PositionOf(kNode, GlobalNode{of_ids[i]->listed()[place]});
      CHECK(of_ids[i]->chance(place) == all.chance(position));
    }
  }
}

TEST_CASE("columns that are none, or have several values, make no pools", "[value_pools]") {
  const RoutedGraph graph(testing::RandomGraph({}), 2);
  VICINITY_ASSERT_OK_AND_ASSIGN(const CandidateNodes all,
                                CandidateNodes::Uniform(graph.router(), kNode));
  const auto made = [&](const std::string& column) {
    return ValuePools::Make(graph.router(), all, column, nullptr).status();
  };
  VICINITY_CHECK_CODE(made("year"), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(made("features"), absl::StatusCode::kInvalidArgument);
  VICINITY_ASSERT_OK_AND_ASSIGN(const CandidateNodes unlisted,
                                CandidateNodes::Uniform(graph.router(), kNode, /*most_listed=*/0));
  VICINITY_CHECK_CODE(ValuePools::Make(graph.router(), unlisted, "label", nullptr).status(),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

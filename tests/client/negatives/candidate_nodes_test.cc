#include "client/negatives/candidate_nodes.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/common/ids.h"
#include "proto/common/random.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

std::vector<int64_t> AllPlaces(const CandidateNodes& candidates) {
  std::vector<int64_t> places(candidates.size());
  std::iota(places.begin(), places.end(), 0);
  return places;
}

TEST_CASE("a place is the same node on any cut, of each kind of ids", "[candidate_nodes]") {
  const NodeTypeId type{GENERATE(0, 1, 2)};  // integers, names, dense
  std::vector<std::vector<int64_t>> positions;
  const int64_t most_listed = GENERATE(int64_t{0}, CandidateNodes::kMostListed);
  for (const int32_t num_shards : {1, 3}) {
    const RoutedGraph graph(testing::TypedGraph(30, 20, 10, 5), num_shards, {1});
    VICINITY_ASSERT_OK_AND_ASSIGN(const CandidateNodes candidates,
                                  CandidateNodes::Uniform(graph.router(), type, most_listed));
    CHECK(candidates.type().value == type.value);
    CHECK(candidates.size() == graph.graph().num_nodes(type));
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> nodes,
                                  candidates.NodesAt(AllPlaces(candidates), nullptr));
    std::vector<int64_t>& of_cut = positions.emplace_back();
    for (const int64_t node : nodes) {
      of_cut.push_back(graph.placement().PositionOf(type, GlobalNode{node}));
    }
    for (const int64_t place : AllPlaces(candidates)) CHECK(candidates.chance(place) == 1);
  }
  CHECK(positions[0] == positions[1]);
}

TEST_CASE("chances by degree are those of the graph, and nodes without edges are never drawn",
          "[candidate_nodes]") {
  const RoutedGraph graph(testing::TypedGraph(30, 40, 10, 5), 3, {1});
  const EdgeTypeId buys{0};
  const NodeTypeId items{1};
  const auto lists = graph.graph().InEdgesOfAll(buys);
  VICINITY_ASSERT_OK_AND_ASSIGN(const CandidateNodes candidates,
                                CandidateNodes::ByDegree(graph.router(), buys, 0.75));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> nodes,
                                candidates.NodesAt(AllPlaces(candidates), nullptr));
  std::vector<bool> possible;
  for (int64_t place = 0; place < candidates.size(); ++place) {
    const auto degree = static_cast<double>(
        lists[graph.placement().PositionOf(items, GlobalNode{nodes[place]})].size());
    CHECK(candidates.chance(place) == Approx(degree == 0 ? 0 : std::pow(degree, 0.75)));
    possible.push_back(degree > 0);
  }
  NodeDraws draws(1, 2);
  for (int i = 0; i < 10'000; ++i) REQUIRE(possible[candidates.Draw(&draws)]);
}

TEST_CASE("types without nodes or edges have no candidates", "[candidate_nodes]") {
  const RoutedGraph graph(testing::TypedGraph(30, 20, 0, 5), 2);
  VICINITY_CHECK_CODE(CandidateNodes::Uniform(graph.router(), NodeTypeId{2}).status(),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(CandidateNodes::ByDegree(graph.router(), EdgeTypeId{4}, 1).status(),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

#include "client/negatives/candidate_nodes.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/schema/schema.h"
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

TEST_CASE("nodes that are given have their places in their order, as often as they are given",
          "[candidate_nodes]") {
  const RoutedGraph graph(testing::TypedGraph(30, 20, 10, 5), 2, {1});
  const std::vector<int64_t> given = {7, 3, 7, 21};
  const CandidateNodes candidates = CandidateNodes::Given(graph.router(), NodeTypeId{0}, given);
  CHECK(candidates.type().value == 0);
  CHECK(candidates.size() == 4);
  CHECK(candidates.are_alike());
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> nodes,
                                candidates.NodesAt(AllPlaces(candidates), nullptr));
  CHECK(nodes == given);
  CHECK_FALSE(CandidateNodes::Given(graph.router(), NodeTypeId{0}, {}).can_draw());
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
  std::vector<double> powers;
  std::vector<double> chances;
  for (int64_t place = 0; place < candidates.size(); ++place) {
    const auto degree = static_cast<double>(
        lists[graph.placement().PositionOf(items, GlobalNode{nodes[place]})].size());
    powers.push_back(degree == 0 ? 0 : std::pow(degree, 0.75));
    chances.push_back(candidates.chance(place));
    possible.push_back(degree > 0);
  }
  const double factor = std::accumulate(chances.begin(), chances.end(), 0.0) /
                        std::accumulate(powers.begin(), powers.end(), 0.0);
  for (size_t i = 0; i < chances.size(); ++i) CHECK(chances[i] == Approx(powers[i] * factor));
  NodeDraws draws(1, 2);
  for (int i = 0; i < 10'000; ++i) REQUIRE(possible[candidates.Draw(&draws)]);
}

constexpr NodeTypeId kUsers{0};

// A graph whose users have a column "weight", by position.
template <typename Value>
testing::MemoryGraph Weighted(const std::vector<Value>& weights, DType dtype) {
  testing::MemoryGraph graph = testing::TypedGraph(static_cast<int64_t>(weights.size()), 20, 10, 5);
  graph.schema.node_types[0].columns.push_back({"weight", dtype, {}});
  graph.nodes[0].columns.emplace_back(reinterpret_cast<const char*>(weights.data()),
                                      weights.size() * sizeof(Value));
  return graph;
}

// The chances of users by position, all of them times the same.
std::vector<double> ChancesOf(const RoutedGraph& graph, const CandidateNodes& candidates) {
  const absl::StatusOr<std::vector<int64_t>> nodes =
      candidates.NodesAt(AllPlaces(candidates), nullptr);
  VICINITY_REQUIRE_OK(nodes.status());
  std::vector<double> chances(candidates.size());
  for (int64_t place = 0; place < candidates.size(); ++place) {
    chances[graph.placement().PositionOf(kUsers, GlobalNode{(*nodes)[place]})] =
        candidates.chance(place);
  }
  return chances;
}

template <typename Value>
void CheckExact(const std::vector<Value>& weights, DType dtype) {
  CAPTURE(std::string(DTypeName(dtype)));
  for (const int32_t num_shards : {1, 3}) {
    const RoutedGraph graph(Weighted(weights, dtype), num_shards, {1});
    VICINITY_ASSERT_OK_AND_ASSIGN(const CandidateNodes candidates,
                                  CandidateNodes::ByColumn(graph.router(), kUsers, "weight"));
    const std::vector<double> chances = ChancesOf(graph, candidates);
    const double unit = chances[1] / static_cast<double>(weights[1]);
    CHECK(unit >= 1);
    for (size_t i = 0; i < weights.size(); ++i) {
      CHECK(chances[i] == static_cast<double>(weights[i]) * unit);
    }
  }
}

TEST_CASE("chances by a column are its numbers, exactly", "[candidate_nodes]") {
  CheckExact<float>({0, 1, 0.25f, 3, 1e6f}, DType::kFloat32);
  CheckExact<double>({0, 1, 0x1p-40, 3, 0x1p19}, DType::kFloat64);
  CheckExact<int64_t>({0, 1, int64_t{1} << 59, 7, 7}, DType::kInt64);
  CheckExact<int32_t>({0, 1, 12345, 7, 7}, DType::kInt32);
  CheckExact<uint8_t>({0, 255, 1, 7, 7}, DType::kUint8);
  CheckExact<int8_t>({0, 127, 1, 7, 7}, DType::kInt8);
}

TEST_CASE("a weight above 0 has a chance, however small it is beside the others",
          "[candidate_nodes]") {
  constexpr double kMost = std::numeric_limits<double>::max();
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  const RoutedGraph graph(Weighted<double>({kMost, kLeast, 0, kMost, kMost}, DType::kFloat64), 1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const CandidateNodes candidates,
                                CandidateNodes::ByColumn(graph.router(), kUsers, "weight"));
  const std::vector<double> chances = ChancesOf(graph, candidates);
  CHECK(chances[0] > 0x1p58);
  CHECK(chances[3] == chances[0]);
  CHECK(chances[1] == 1);
  CHECK(chances[2] == 0);
  const RoutedGraph small(Weighted<double>({kLeast, 3 * kLeast, 0, 0}, DType::kFloat64), 1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const CandidateNodes least,
                                CandidateNodes::ByColumn(small.router(), kUsers, "weight"));
  CHECK(ChancesOf(small, least)[1] == 3 * ChancesOf(small, least)[0]);
}

TEST_CASE("weights that are given go by the order of the nodes, and are as a column's",
          "[candidate_nodes]") {
  const std::vector<double> weights = {0.5, 0, 3, 0.1, 8};
  const RoutedGraph graph(Weighted(weights, DType::kFloat64), 3, {1});
  VICINITY_ASSERT_OK_AND_ASSIGN(const CandidateNodes by_column,
                                CandidateNodes::ByColumn(graph.router(), kUsers, "weight"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> nodes,
                                by_column.NodesAt(AllPlaces(by_column), nullptr));
  std::vector<double> by_place;
  for (const int64_t node : nodes) {
    by_place.push_back(weights[graph.placement().PositionOf(kUsers, GlobalNode{node})]);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const CandidateNodes by_weights,
                                CandidateNodes::ByWeights(graph.router(), kUsers, by_place));
  CHECK(ChancesOf(graph, by_weights) == ChancesOf(graph, by_column));
  NodeDraws draws(1, 2);
  NodeDraws same(1, 2);
  for (int i = 0; i < 1000; ++i) REQUIRE(by_weights.Draw(&draws) == by_column.Draw(&same));
  by_place.pop_back();
  VICINITY_CHECK_CODE(CandidateNodes::ByWeights(graph.router(), kUsers, by_place).status(),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("weights that are none are refused with the node that has them", "[candidate_nodes]") {
  const double wrong = GENERATE(-1.5, std::numeric_limits<double>::infinity(), std::nan(""));
  const RoutedGraph graph(Weighted<double>({1, 1, wrong, 1}, DType::kFloat64), 2);
  const absl::Status refused = CandidateNodes::ByColumn(graph.router(), kUsers, "weight").status();
  VICINITY_CHECK_CODE(refused, absl::StatusCode::kInvalidArgument);
  const auto user_id = static_cast<int64_t>(graph.graph().nodes[0].keys[2]);
  CHECK_THAT(std::string(refused.message()),
             Catch::Contains("weight " + std::string(wrong < 0        ? "-1.5"
                                                     : wrong == wrong ? "inf"
                                                                      : "nan")) &&
                 Catch::Contains("node " + std::to_string(user_id) + " ") &&
                 Catch::Contains("column weight of node type user"));
}

TEST_CASE("a column that cannot be weights is refused", "[candidate_nodes]") {
  const RoutedGraph graph(Weighted<double>({0, 0, 0}, DType::kFloat64), 2);
  const auto code = [&](NodeTypeId type, const std::string& column) {
    return CandidateNodes::ByColumn(graph.router(), type, column).status();
  };
  VICINITY_CHECK_CODE(code(kUsers, "weight"), absl::StatusCode::kInvalidArgument);  // all are 0
  VICINITY_CHECK_CODE(code(kUsers, "features"), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(code(kUsers, "weights"), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(CandidateNodes::ByWeights(graph.router(), kUsers, {0, 0, 0}).status(),
                      absl::StatusCode::kInvalidArgument);
  // Names of nodes are in quotes.
  std::vector<double> weights(20, 1);
  weights[3] = -2;
  const absl::Status of_items =
      CandidateNodes::ByWeights(graph.router(), NodeTypeId{1}, weights).status();
  CHECK_THAT(std::string(of_items.message()), Catch::Contains("weight -2 of node 'item/"));
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

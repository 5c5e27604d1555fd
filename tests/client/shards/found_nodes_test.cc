#include "client/shards/found_nodes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr NodeTypeId kUser{0};
constexpr NodeTypeId kItem{1};
constexpr int32_t kLabel = 1;
constexpr int32_t kSplit = 2;
constexpr int32_t kPrice = 1;

RowCondition LabelFrom(int64_t least) {
  RowCondition where;
  where.terms.push_back({ConditionOp::kGreaterEqual, kLabel, DType::kInt32, {least}});
  return where;
}

TEST_CASE("nodes that meet a condition come from all shards in the order of their keys",
          "[found_nodes]") {
  const RoutedGraph graph(testing::TypedGraph(80, 20, 9, 3), 4, {1, 3});
  const Split split = GENERATE(Split::kNone, Split::kTrain);
  const int64_t least = GENERATE(-1, 2, 1000);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const FoundNodes found,
      FindNodes(graph.router(), kUser, split, LabelFrom(least), StartOperation()));
  const std::vector<int64_t> ids = graph.GlobalIds(kUser);
  std::vector<std::pair<uint64_t, int64_t>> by_key;
  for (int64_t position = 0; position < 80; ++position) {
    int32_t label = 0;
    std::memcpy(&label, graph.graph().row(kUser, kLabel, position).data(), sizeof(label));
    const char in_split = graph.graph().row(kUser, kSplit, position)[0];
    if (label < least) continue;
    if (split != Split::kNone && in_split != static_cast<char>(split)) continue;
    by_key.emplace_back(graph.graph().nodes[kUser.value].keys[position], ids[position]);
  }
  std::sort(by_key.begin(), by_key.end());
  std::vector<int64_t> expected;
  for (const auto& [key, node] : by_key) expected.push_back(node);
  CHECK(found.nodes == expected);
  CHECK(found.num_read == 80);
}

TEST_CASE("a split that there is not, and a condition too long for one, are refused",
          "[found_nodes]") {
  const RoutedGraph graph(testing::TypedGraph(20, 20, 9, 3), 2);
  RowCondition price;
  price.terms.push_back({ConditionOp::kLess, kPrice, DType::kFloat64, {}, {1.0}});
  VICINITY_CHECK_CODE(
      FindNodes(graph.router(), kItem, Split::kTrain, price, StartOperation()).status(),
      absl::StatusCode::kNotFound);
  RowCondition longest = LabelFrom(1);
  while (static_cast<int64_t>(longest.terms.size()) < kMostConditionTerms) {
    longest.terms.push_back({ConditionOp::kNot});
  }
  VICINITY_CHECK_OK(
      FindNodes(graph.router(), kUser, Split::kNone, longest, StartOperation()).status());
  VICINITY_CHECK_CODE(
      FindNodes(graph.router(), kUser, Split::kTrain, longest, StartOperation()).status(),
      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

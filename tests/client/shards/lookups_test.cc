#include "client/shards/lookups.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr NodeTypeId kUser{0};
constexpr NodeTypeId kItem{1};
constexpr NodeTypeId kTag{2};

testing::MemoryGraph Graph() { return testing::TypedGraph(120, 80, 20, 5); }

TEST_CASE("integer ids lead to nodes and back, unknown ones to -1", "[lookups]") {
  const RoutedGraph graph(Graph(), 4, {2});
  std::vector<int64_t> ids;
  for (const uint64_t key : graph.graph().nodes[0].keys) ids.push_back(static_cast<int64_t>(key));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> nodes,
                                ResolveIntegers(graph.router(), kUser, ids));
  CHECK(nodes == graph.GlobalIds(kUser));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> back,
                                IntegersOf(graph.router(), kUser, nodes));
  CHECK(back == ids);

  const std::vector<int64_t> strange = {ids[3], 987654321, ids[3], INT64_MIN};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> found,
                                ResolveIntegers(graph.router(), kUser, strange));
  CHECK(found == std::vector<int64_t>{nodes[3], -1, nodes[3], -1});
}

TEST_CASE("string ids lead to nodes and back, unknown ones to -1", "[lookups]") {
  const RoutedGraph graph(Graph(), 4, {2});
  const std::vector<std::string>& names = graph.graph().nodes[1].names;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> nodes,
                                ResolveNames(graph.router(), kItem, names));
  CHECK(nodes == graph.GlobalIds(kItem));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<std::string> back,
                                NamesOf(graph.router(), kItem, nodes));
  CHECK(back == names);
  const std::vector<std::string> strange = {"no such item", names[1], ""};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> found,
                                ResolveNames(graph.router(), kItem, strange));
  CHECK(found == std::vector<int64_t>{-1, nodes[1], -1});
}

TEST_CASE("degrees are those of the graph, near and far", "[lookups]") {
  const RoutedGraph graph(Graph(), 4, {2});
  for (int32_t type = 0; type < 2; ++type) {
    const NodeTypeId target{graph.router().schema().edge_types[type].target_type};
    const auto lists = graph.graph().InEdgesOfAll(EdgeTypeId{type});
    const std::vector<int64_t> nodes = graph.GlobalIds(target);
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> degrees,
                                  DegreesOf(graph.router(), EdgeTypeId{type}, nodes));
    for (size_t i = 0; i < nodes.size(); ++i) {
      CHECK(degrees[i] == static_cast<int64_t>(lists[i].size()));
    }
  }
  VICINITY_CHECK_CODE(DegreesOf(graph.router(), EdgeTypeId{0}, {-1}).status(),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("pairs have the edges of the graph, near and far", "[lookups]") {
  const RoutedGraph graph(Graph(), 4, {2});
  for (int32_t type = 0; type < 2; ++type) {
    const EdgeTypeSpec& spec = graph.router().schema().edge_types[type];
    const std::vector<int64_t> from = graph.GlobalIds(NodeTypeId{spec.source_type});
    const std::vector<int64_t> to = graph.GlobalIds(NodeTypeId{spec.target_type});
    const auto lists = graph.graph().InEdgesOfAll(EdgeTypeId{type});
    std::vector<int64_t> sources;
    std::vector<int64_t> targets;
    std::vector<int64_t> expected;
    for (size_t target = 0; target < to.size(); ++target) {
      for (size_t source = 0; source < from.size(); ++source) {
        const auto found = std::find_if(lists[target].begin(), lists[target].end(),
                                        [&](const testing::InEdge& edge) {
                                          return edge.source == static_cast<int64_t>(source);
                                        });
        sources.push_back(from[source]);
        targets.push_back(to[target]);
        expected.push_back(found == lists[target].end() ? -1 : found->edge_id);
      }
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> edge_ids,
                                  EdgeIdsOf(graph.router(), EdgeTypeId{type}, sources, targets));
    CHECK(edge_ids == expected);
  }
  const auto refused = absl::StatusCode::kInvalidArgument;
  for (const auto& [sources, targets] :
       std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>{
           {{-1}, {0}}, {{0}, {-1}}, {{0}, {}}, {{1 << 20}, {0}}}) {
    VICINITY_CHECK_CODE(EdgeIdsOf(graph.router(), EdgeTypeId{0}, sources, targets).status(),
                        refused);
  }
}

TEST_CASE("ids of the wrong kind are refused", "[lookups]") {
  const RoutedGraph graph(Graph(), 2);
  const auto refused = absl::StatusCode::kInvalidArgument;
  VICINITY_CHECK_CODE(ResolveIntegers(graph.router(), kItem, {1}).status(), refused);
  VICINITY_CHECK_CODE(ResolveNames(graph.router(), kUser, {"a"}).status(), refused);
  VICINITY_CHECK_CODE(IntegersOf(graph.router(), kItem, {0}).status(), refused);
  VICINITY_CHECK_CODE(NamesOf(graph.router(), kUser, {0}).status(), refused);
}

TEST_CASE("nodes outside the book are named, ten at most", "[lookups]") {
  const RoutedGraph graph(Graph(), 2);
  std::vector<int64_t> nodes = {0, -1, 120};
  for (int64_t i = 0; i < 20; ++i) nodes.push_back(1000 + i);
  const absl::Status status = CheckNodes(graph.router(), kUser, nodes);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  const std::string text(status.message());
  CHECK_THAT(text, Catch::Contains("-1, 120, 1000") && Catch::Contains("1007") &&
                       !Catch::Contains("1008"));
  VICINITY_CHECK_CODE(CheckNodeType(graph.router().schema(), 3),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(CheckNodeType(graph.router().schema(), -1),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("the nodes of a split come in the order of their keys, for any cut", "[lookups]") {
  const auto split = GENERATE(Split::kTrain, Split::kValidation, Split::kTest, Split::kNone);
  const testing::MemoryGraph memory = Graph();
  const NodeTypeSpec& spec = memory.schema.node_types[0];
  const std::string& splits = memory.nodes[0].columns[spec.FindColumn("split")];
  std::vector<uint64_t> expected;
  for (size_t i = 0; i < memory.nodes[0].keys.size(); ++i) {
    if (split == Split::kNone || static_cast<Split>(splits[i]) == split) {
      expected.push_back(memory.nodes[0].keys[i]);
    }
  }
  std::sort(expected.begin(), expected.end());
  for (const int32_t num_shards : {1, 3}) {
    const RoutedGraph graph(Graph(), num_shards, {1});
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> nodes,
                                  NodesOfSplit(graph.router(), kUser, split, {}));
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> ids,
                                  IntegersOf(graph.router(), kUser, nodes));
    CHECK(std::vector<uint64_t>(ids.begin(), ids.end()) == expected);
  }
}

TEST_CASE("shards divide the nodes of a split among them", "[lookups]") {
  const RoutedGraph graph(Graph(), 3);
  VICINITY_ASSERT_OK_AND_ASSIGN(std::vector<int64_t> all,
                                NodesOfSplit(graph.router(), kUser, Split::kTrain, {}));
  std::vector<int64_t> parts;
  for (int32_t shard = 0; shard < 3; ++shard) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> part,
                                  NodesOfSplit(graph.router(), kUser, Split::kTrain, {shard}));
    for (const int64_t node : part) {
      CHECK(graph.router().book().OwnerOf(kUser, {node}).value == shard);
    }
    parts.insert(parts.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  std::sort(parts.begin(), parts.end());
  CHECK(parts == all);
  VICINITY_CHECK_CODE(NodesOfSplit(graph.router(), kTag, Split::kTrain, {}).status(),
                      absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(NodesOfSplit(graph.router(), kUser, Split::kTrain, {3}).status(),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("rankings are read by home, as many as are wanted", "[lookups]") {
  RoutedGraph graph(Graph(), 2, {1});
  graph.Rank("default");
  const std::vector<int64_t> by_position = graph.GlobalIds(kItem);
  const std::vector<std::vector<int32_t>> homes = {{0}, {1}, {0, 1}};
  for (const std::vector<int32_t>& home : homes) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const RankedNodes all,
                                  FetchRanking(graph.router(), "default", home, kItem, 0));
    CHECK(all.nodes == by_position);
    VICINITY_ASSERT_OK_AND_ASSIGN(const RankedNodes some,
                                  FetchRanking(graph.router(), "default", home, kItem, 7));
    CHECK(some.nodes == std::vector<int64_t>(by_position.begin(), by_position.begin() + 7));
  }
  const auto code = [&](const char* name, std::vector<int32_t> home, int64_t count) {
    return FetchRanking(graph.router(), name, home, kItem, count).status();
  };
  VICINITY_CHECK_CODE(code("other", {0}, 0), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(code("default", {}, 0), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(code("default", {1, 0}, 0), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(code("default", {2}, 0), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(code("default", {0}, -1), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("labels of any integer type are widened, features refused", "[lookups]") {
  const RoutedGraph graph(Graph(), 3, {0});
  const NodeTypeSpec& spec = graph.graph().schema.node_types[0];
  const int label = spec.FindColumn(spec.label_column);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const std::vector<int64_t> labels,
      IntegerColumn(graph.router(), kUser, label, graph.GlobalIds(kUser)));
  for (int64_t i = 0; i < 120; ++i) {
    int32_t expected;
    std::memcpy(&expected, graph.graph().row(kUser, label, i).data(), sizeof(expected));
    CHECK(labels[i] == expected);
  }
  VICINITY_CHECK_CODE(
      IntegerColumn(graph.router(), kUser, spec.FindColumn("features"), {0}).status(),
      absl::StatusCode::kInvalidArgument);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<double> numbers,
                                NumberColumn(graph.router(), kUser, label, graph.GlobalIds(kUser)));
  CHECK(numbers == std::vector<double>(labels.begin(), labels.end()));
  VICINITY_CHECK_CODE(
      NumberColumn(graph.router(), kUser, spec.FindColumn("features"), {0}).status(),
      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a column is found by its name, or those there are are named", "[lookups]") {
  const NodeTypeSpec spec = Graph().schema.node_types[0];
  CHECK(*FindNodeColumn(spec, "label") == spec.FindColumn("label"));
  const absl::Status missing = FindNodeColumn(spec, "colour").status();
  VICINITY_CHECK_CODE(missing, absl::StatusCode::kNotFound);
  CHECK(missing.message().find("features label") != std::string::npos);
}

TEST_CASE("a node is told by its user's id, or by its global id if its shard is away",
          "[lookups]") {
  RoutedGraph graph(Graph(), 3, {0});
  CHECK(UserIdText(graph.router(), kUser, 5) ==
        std::to_string(IntegersOf(graph.router(), kUser, {5})->front()));
  CHECK(UserIdText(graph.router(), kItem, 2) ==
        "'" + NamesOf(graph.router(), kItem, {2})->front() + "'");
  graph.faults()->fail_after = graph.faults()->calls.load();
  CHECK(UserIdText(graph.router(), kUser, 0) == "0 (a global id)");
}

}  // namespace
}  // namespace vicinity

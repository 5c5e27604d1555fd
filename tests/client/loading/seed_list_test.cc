#include "client/loading/seed_list.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/lookups.h"
#include "client/types/seed_values.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr NodeTypeId kUser{0};  // integers
constexpr NodeTypeId kItem{1};  // strings
constexpr NodeTypeId kTag{2};   // dense

testing::MemoryGraph Graph() { return testing::TypedGraph(200, 60, 10, 3); }

void CheckRefused(const RoutedGraph& graph, NodeTypeId type, const SeedList& list,
                  absl::StatusCode code, const std::vector<std::string>& words) {
  const absl::Status status = ListedNodes(graph.router(), {type}, list).status();
  VICINITY_CHECK_CODE(status, code);
  for (const std::string& word : words) {
    CHECK_THAT(std::string(status.message()), Catch::Contains(word));
  }
}

TEST_CASE("ids of every kind are found, in the order of the list", "[seed_list]") {
  const RoutedGraph graph(Graph(), 3, {1});
  const std::vector<int64_t> users = graph.GlobalIds(kUser);
  const std::vector<int64_t> items = graph.GlobalIds(kItem);
  const auto key = [&](int64_t position) {
    return static_cast<int64_t>(graph.graph().nodes[0].keys[position]);
  };
  const auto name = [&](int64_t position) { return graph.graph().nodes[1].names[position]; };

  VICINITY_ASSERT_OK_AND_ASSIGN(
      std::vector<int64_t> found,
      ListedNodes(graph.router(), {kUser}, UserIds{{key(7), key(199), key(7), key(0)}}));
  CHECK(found == std::vector<int64_t>{users[7], users[199], users[7], users[0]});
  VICINITY_ASSERT_OK_AND_ASSIGN(
      found, ListedNodes(graph.router(), {kItem}, UserNames{{name(59), name(0), name(59)}}));
  CHECK(found == std::vector<int64_t>{items[59], items[0], items[59]});
  VICINITY_ASSERT_OK_AND_ASSIGN(found,
                                ListedNodes(graph.router(), {kItem}, GlobalIds{{59, 0, 17, 17}}));
  CHECK(found == std::vector<int64_t>{59, 0, 17, 17});
}

TEST_CASE("a mask goes by keys, which dense ids are", "[seed_list]") {
  const RoutedGraph graph(Graph(), 3, {1});
  NodeMask tags{std::vector<uint8_t>(10, 0)};
  tags.chosen[2] = 1;
  tags.chosen[9] = 255;
  const std::vector<int64_t> tag_ids = graph.GlobalIds(kTag);
  VICINITY_ASSERT_OK_AND_ASSIGN(std::vector<int64_t> found,
                                ListedNodes(graph.router(), {kTag}, tags));
  CHECK(found == std::vector<int64_t>{tag_ids[2], tag_ids[9]});

  for (const NodeTypeId type : {kUser, kItem}) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> all,
                                  NodesOfSplit(graph.router(), type, Split::kNone, {}));
    NodeMask mask{std::vector<uint8_t>(all.size(), 0)};
    std::vector<int64_t> expected;
    for (size_t i = 1; i < all.size(); i += 3) {
      mask.chosen[i] = 1;
      expected.push_back(all[i]);
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(found, ListedNodes(graph.router(), {type}, mask));
    CHECK(found == expected);
  }
}

TEST_CASE("links are pairs of nodes, of one type or two", "[seed_list]") {
  const RoutedGraph graph(Graph(), 3, {1});
  const std::vector<uint64_t>& keys = graph.graph().nodes[0].keys;
  const std::vector<int64_t> users = graph.GlobalIds(kUser);
  LinkList links{"knows", UserIds{{static_cast<int64_t>(keys[3]), static_cast<int64_t>(keys[9])}},
                 GlobalIds{{users[5], users[3]}}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<NodeTypeId> types,
                                TypesOfLinks(graph.graph().schema, links));
  CHECK(types == std::vector<NodeTypeId>{kUser, kUser});
  VICINITY_ASSERT_OK_AND_ASSIGN(std::vector<int64_t> found,
                                ListedNodes(graph.router(), types, links));
  CHECK(found == std::vector<int64_t>{users[3], users[5], users[9], users[3]});

  links.targets = GlobalIds{{1}};
  CheckRefused(graph, kUser, links, absl::StatusCode::kInvalidArgument, {"2 sources", "1 targets"});
  links.targets = UserIds{{static_cast<int64_t>(keys[3]), -7}};
  CheckRefused(graph, kUser, links, absl::StatusCode::kNotFound, {"targets", "-7 (position 1)"});
  CheckRefused(graph, kUser, LinkList{"knows", GlobalIds(), GlobalIds()},
               absl::StatusCode::kInvalidArgument, {"empty"});
  links = {"buys", UserNames{{graph.graph().nodes[1].names[2]}},
           UserIds{{static_cast<int64_t>(keys[3])}}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<NodeTypeId> two,
                                TypesOfLinks(graph.graph().schema, links));
  CHECK(two.size() == 2);
  CHECK(!(two[0] == two[1]));
  links.edge_type = "hates";
  const absl::Status unknown = TypesOfLinks(graph.graph().schema, links).status();
  VICINITY_CHECK_CODE(unknown, absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(unknown.message()), Catch::Contains("user:knows:user"));
}

TEST_CASE("ids that no node has are named, with their places", "[seed_list]") {
  const RoutedGraph graph(Graph(), 3, {1});
  const auto key = static_cast<int64_t>(graph.graph().nodes[0].keys[7]);
  CheckRefused(graph, kUser, UserIds{{key, -77, key, -78}}, absl::StatusCode::kNotFound,
               {"2 of 4 seeds", "user", "-77 (position 1)", "-78 (position 3)"});
  CheckRefused(graph, kItem, UserNames{{graph.graph().nodes[1].names[0], "no such"}},
               absl::StatusCode::kNotFound, {"1 of 2 seeds", "item", "no such (position 1)"});
  CheckRefused(graph, kItem, GlobalIds{{1, 60, -1}}, absl::StatusCode::kInvalidArgument,
               {"60 (position 1)", "-1 (position 2)", "0 to 59"});
  CheckRefused(graph, kItem, GlobalIds{std::vector<int64_t>(1000, 60)},
               absl::StatusCode::kInvalidArgument, {"1000 of 1000", "(position 9), ...;"});
}

TEST_CASE("lists without a seed, masks of another length and ids of another kind are refused",
          "[seed_list]") {
  const RoutedGraph graph(Graph(), 2);
  const auto wrong = absl::StatusCode::kInvalidArgument;
  for (const SeedList& list : {SeedList(GlobalIds()), SeedList(UserIds())}) {
    CheckRefused(graph, kUser, list, wrong, {"empty", "user"});
  }
  CheckRefused(graph, kItem, UserNames(), wrong, {"empty", "item"});
  CheckRefused(graph, kUser, NodeMask{std::vector<uint8_t>(200, 0)}, wrong, {"none", "user"});
  CheckRefused(graph, kUser, NodeMask{std::vector<uint8_t>(199, 1)}, wrong, {"199", "200", "user"});
  CheckRefused(graph, kUser, UserNames{{"a"}}, wrong, {"integers"});
  CheckRefused(graph, kItem, UserIds{{1}}, wrong, {"strings"});
  CheckRefused(graph, kUser, SeedList(), wrong, {});
}

}  // namespace
}  // namespace vicinity

#include "client/query/query_steps.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/query/query_text.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// With the reverse of what users buy, and of nothing else.
Schema TypedSchema() {
  testing::MemoryGraph graph = testing::TypedGraph(5, 5, 5, /*seed=*/1);
  testing::AddReverse(EdgeTypeId{0}, &graph);
  return graph.schema;
}

absl::StatusOr<std::vector<ResolvedStep>> Resolve(const std::string& text) {
  absl::StatusOr<Query> query = ParseQuery(text);
  VICINITY_REQUIRE_OK(query.status());
  return ResolveQuery(TypedSchema(), *query);
}

TEST_CASE("Steps are found by the numbers of the graph") {
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const std::vector<ResolvedStep> steps,
      Resolve("items = nodes(item)\n"
              "users = neighbors(items, buys, 3, by=weight, columns=[features], "
              "edge_columns=[weight])\n"
              "known = neighbors(users, user:knows:user, where=\"label = 1\", order_by=id)\n"
              "sold = negatives(users, buys, 2)\n"
              "cheap = neighbors(items, buys, where=\"weight < 1\", order_by=weight)\n"
              "weighed = neighbors(items, buys, 3, by=weight, where=\"label = 1\")\n"
              "walk = walk(items, [buys, user:knows:user], 2, weighted_by=weight, node_type=user, "
              "columns=[features])\n"));
  const Schema schema = TypedSchema();
  const int user = schema.FindNodeType("user");
  CHECK(steps[0].node_type.value == schema.FindNodeType("item"));
  CHECK(steps[0].from == -1);
  CHECK(steps[1].from == 0);
  CHECK(steps[1].node_type.value == user);
  CHECK(steps[1].edge_type.value == schema.FindEdgeType("buys"));
  CHECK(steps[1].weighted());
  CHECK(steps[1].columns == std::vector<int32_t>{schema.node_types[user].FindColumn("features")});
  REQUIRE(steps[1].edge_columns.size() == 1);
  CHECK(steps[2].draws_here());
  CHECK(steps[2].order == OrderKind::kId);
  CHECK(steps[3].node_type.value == schema.FindNodeType("item"));
  CHECK(steps[4].edges_where != nullptr);
  CHECK_FALSE(steps[4].draws_here());
  CHECK(steps[4].order == OrderKind::kEdgeColumn);
  CHECK(steps[5].draws_here());
  CHECK(steps[5].needs_edge_rows());
  CHECK_FALSE(steps[2].needs_edge_rows());
  CHECK(steps[6].walk.metapath ==
        std::vector<int32_t>{schema.FindEdgeType("buys"), schema.FindEdgeType("user:knows:user")});
  CHECK(steps[6].walk.weighted_by == "weight");
  CHECK(steps[6].node_type.value == user);
}

TEST_CASE("Out-lists are those of the reversed type, whichever of the two was imported") {
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const std::vector<ResolvedStep> steps,
      Resolve("users = nodes(user)\n"
              "bought = neighbors(users, buys, 3, by=weight, direction=out, columns=[features], "
              "where=\"weight < 1\", edge_columns=[weight])\n"
              "buyers = neighbors(bought, rev_buys, direction=out)\n"
              "same = neighbors(bought, buys, direction=in)\n"));
  const Schema schema = TypedSchema();
  CHECK(steps[1].edge_type.value == schema.FindEdgeType("item:rev_buys:user"));
  CHECK(steps[1].node_type.value == schema.FindNodeType("item"));
  CHECK(steps[1].edges_where != nullptr);
  REQUIRE(steps[1].edge_columns.size() == 1);
  CHECK(steps[1].edge_columns[0].type.value == steps[1].edge_type.value);
  CHECK(steps[2].edge_type.value == schema.FindEdgeType("user:buys:item"));
  CHECK(steps[2].node_type.value == schema.FindNodeType("user"));
  CHECK(steps[3].edge_type.value == steps[2].edge_type.value);
}

TEST_CASE("What does not fit the graph, or its kind, is told with the step and what there is") {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"a = nodes(users)", "step a: no node type `users`, there are user, item, tag"},
      {"a = nodes(user); a = nodes(item)", "step a: another step has this name"},
      {"a = nodes(user); b = neighbors(c, knows)",
       "step b: no step before it is named `c`, there are: a"},
      {"b = neighbors(b, knows)", "there are: none"},
      {"a = nodes(user); b = neighbors(a, sees)",
       "step b: no edge type (or several relations of this name) `sees`, there are user:buys:item"},
      {"a = nodes(user); b = neighbors(a, buys)",
       "step a makes nodes of type user, but neighbors along user:buys:item are of nodes of type "
       "item"},
      {"a = nodes(item); b = negatives(a, buys, 2)",
       "negatives along user:buys:item are of nodes of "
       "type user"},
      {"a = nodes(user); b = neighbors(a, knows, direction=out)",
       "step b: direction=out along user:knows:user needs its reversed edges, but the graph has no "
       "edge type user:rev_knows:user: import it with add_reverse_apart (--add-reverse-apart)"},
      {"a = nodes(item); b = neighbors(a, buys, direction=out)",
       "step a makes nodes of type item, but neighbors along item:rev_buys:user are of nodes of "
       "type user"},
      {"a = nodes(user); b = neighbors(a, knows, 0)", "a count of 0: from 1 to"},
      {"a = nodes(user); b = negatives(a, buys, all)", "a count of -1: from 1 to"},
      {"a = nodes(user, count=-5)", "a count of -5"},
      {"a = nodes(user, limit=-3)", "a limit of -3"},
      {"a = nodes(user); b = negatives(a, buys, 2, degree_power=-1)", "degree_power -1"},
      {"a = nodes(user); b = neighbors(a, knows, replace=true)",
       "by and replace are for drawn neighbors: give a count"},
      {"a = nodes(user, [1], split=train)", "nodes that are given, and split"},
      {"a = nodes(user, $x, count=3)", "nodes that are given are not drawn"},
      {"a = nodes(user, by=features)", "by is for drawn nodes: give count"},
      {"a = nodes(tag, split=train)", "node type tag has no splits"},
      {"a = nodes(user, count=3, by=fame)", "step a: "},
      {"a = nodes(user); b = neighbors(a, knows, 3, by=weight)",
       "by `weight`, but the weight column of user:knows:user is none"},
      {"a = nodes(user); b = negatives(a, buys, 2, by=price, degree_power=1)",
       "by and degree_power: give one of them"},
      {"a = nodes(user); b = negatives(a, buys, 2, same=[price], shares=[0.5])",
       "like, same and shares go together"},
      {"a = nodes(user); b = negatives(a, buys, 2, like=a, same=[price], shares=[0.5, 0.5])",
       "1 columns in same and 2 shares"},
      {"a = nodes(user); b = negatives(a, buys, 2, like=c, same=[price], shares=[0.5])",
       "no step before it is named `c`"},
      {"a = nodes(user); b = negatives(a, buys, 2, like=a, same=[price], shares=[0.5])",
       "like a, whose nodes are of type user, but targets are of type item"},
      {"a = nodes(user, where=\"year > 1\")",
       "the condition names year; columns of user features, label"},
      {"a = nodes(user, where=\"label >\")", "step a: condition `label >`: expected a number"},
      {"a = nodes(user, where=\"features > 1\")", "features"},
      {"a = nodes(item); b = neighbors(a, buys, where=\"weight > 1 and label = 1\")",
       "and one condition is of either"},
      {"a = nodes(item, order_by=id)", "the ids of item are names"},
      {"a = nodes(user, order_by=year)", "is neither id nor a column of user (features"},
      {"a = nodes(user, order_by=features)", "of which a row has"},
      {"a = nodes(user, descending=true)", "descending is for order_by"},
      {"a = nodes(user, columns=[year])", "step a: "},
      {"a = nodes(item); b = neighbors(a, buys, edge_columns=[year])", "has no column year"},
      {"a = nodes(item); b = walk(c, buys, 3)", "no step before it is named `c`"},
      {"a = nodes(item); b = walk(a, [], 3)", "step b: no metapath"},
      {"a = nodes(item); b = walk(a, sees, 3)",
       "step b: no edge type (or several relations of this name) `sees`, there are user:buys:item"},
      {"a = nodes(user); b = walk(a, buys, 1)",
       "step a makes nodes of type user, but walk along user:buys:item are of nodes of type item"},
      {"a = nodes(item); b = walk(a, buys, 2)", "step b: metapath: step 1 along user:buys:item "},
      {"a = nodes(item); b = walk(a, buys, 0)", "step b: walks of 0 steps"},
      {"a = nodes(item); b = walk(a, buys, 1, weighted_by=price)", "the weight column price"},
      {"a = nodes(item); b = walk(a, buys, 1, restart_prob=1)", "restart_prob 1"},
      {"a = nodes(item); b = walk(a, buys, 1, p=2)", "node2vec walks follow one edge type"},
      {"a = nodes(user); b = walk(a, knows, 3, q=1000)", "between 1/64 and 64"},
      {"a = nodes(user); b = walk(a, knows, 3, node_type=users)", "no node type `users`"},
      {"a = nodes(user); b = walk(a, knows, 3, node_type=item)",
       "node_type item, but walks of 3 steps along this metapath never come to such nodes"},
      {"a = nodes(item); b = walk(a, buys, 1, columns=[label])", "step b: "},
      {"a = nodes(user); b = induced([], knows)", "step b: induced names no steps"},
      {"a = nodes(user); b = induced([a, c], knows)", "no step before it is named `c`"},
      {"a = nodes(user); b = induced(a, sees)", "there are user:buys:item"},
      {"a = nodes(user); b = induced(a, has)",
       "step a makes nodes of type user, which item:has:tag does not join"},
      {"a = nodes(user); b = induced(a, buys, where=\"label = 1\")",
       "the condition names label, but that of induced is on columns of the edges: weight"},
      {"a = nodes(user); b = induced(a, buys, where=\"price = 1\")",
       "the condition names price; columns of"},
      {"a = nodes(user); b = induced(a, buys, edge_columns=[year])", "has no column year"},
      {"a = nodes(user); b = ppr(a, sees, 5)", "there are user:buys:item"},
      {"a = nodes(user); b = ppr(a, buys, 5)",
       "step b: no edge type that is followed leads to seeds, which are of type user"},
      {"a = nodes(user); b = ppr(a, knows, 5, node_type=tag)",
       "no edge type that is followed comes from nodes of type tag"},
      {"a = nodes(user); b = ppr(a, knows, 5, alpha=1)", "alpha 1 is not above 0 and below 1"},
      {"a = nodes(user); b = ppr(a, knows, 5, eps=0)", "eps 0 is not above 0"},
      {"a = nodes(user); b = ppr(a, knows, 5, max_neighbors=0)", "max_neighbors 0"},
      {"a = nodes(user); b = ppr(a, knows, 0)", "step b: the 0 highest scores"},
      {"a = nodes(user); b = ppr(a, knows, 5, weighted_by=weight)", "the weight column weight"},
      {"a = nodes(user); b = visited(a, knows, 5, num_walks=3)", "step b: walks of 0 steps"},
      {"a = nodes(user); b = visited(a, knows, 5, length=3)", "step b: 0 walks from each start"},
      {"a = nodes(user); b = visited(a, knows, 0, length=3, num_walks=2)",
       "step b: the 0 most visited nodes: at least 1"},
      {"a = nodes(item); b = visited(a, buys, 5, length=1, num_walks=2)",
       "walks of 1 steps along this metapath never come to nodes of type item"},
      {"a = nodes(user); b = visited(a, knows, 5, length=1, num_walks=100000000)",
       "are more than 134217728 nodes"},
  };
  for (const auto& [text, expected] : wrong) {
    const absl::Status status = Resolve(text).status();
    INFO(text << "\n" << status);
    CHECK_FALSE(status.ok());
    CHECK(std::string(status.message()).find(expected) != std::string::npos);
  }
}

TEST_CASE("What a kind does not have is refused, however the query was made") {
  const std::vector<std::pair<std::string, QueryStep>> wrong = [] {
    QueryStep nodes;
    nodes.name = "a";
    nodes.type = "user";
    QueryStep layer = nodes;
    layer.kind = StepKind::kLayer;
    layer.from = "src";
    layer.type = "knows";
    layer.count = 3;
    std::vector<std::pair<std::string, QueryStep>> steps;
    const auto add = [&steps](const std::string& what, QueryStep step, auto member, auto value) {
      step.*member = value;
      steps.emplace_back(what, step);
    };
    add("nodes have no replace", nodes, &QueryStep::replace, true);
    add("nodes have no direction", nodes, &QueryStep::direction, EdgeDirection::kOut);
    add("layer have no direction", layer, &QueryStep::direction, EdgeDirection::kOut);
    add("nodes have no exact", nodes, &QueryStep::exact, false);
    add("nodes have no edge_ids", nodes, &QueryStep::edge_ids, true);
    add("go on from no other step", nodes, &QueryStep::from, "src");
    add("a step's name is `a b`", nodes, &QueryStep::name, "a b");
    add("layer have no input", layer, &QueryStep::input, "x");
    add("layer have no where", layer, &QueryStep::where, "label = 1");
    add("layer have no limit", layer, &QueryStep::limit, 3);
    add("layer have no split", layer, &QueryStep::split, Split::kTest);
    add("layer have no length", layer, &QueryStep::length, 3);
    add("nodes have no metapath", nodes, &QueryStep::metapath, std::vector<std::string>{"knows"});
    add("nodes have no restart_prob", nodes, &QueryStep::restart_prob, 0.5);
    add("layer have no weighted_by", layer, &QueryStep::weighted_by, "weight");
    QueryStep walk;
    walk.name = "a";
    walk.kind = StepKind::kWalk;
    walk.from = "src";
    walk.metapath = {"knows"};
    walk.length = 3;
    add("walk have no top", walk, &QueryStep::top, 3);
    add("walk have no alpha", walk, &QueryStep::alpha, 0.5);
    add("nodes have no eps", nodes, &QueryStep::eps, 0.5);
    add("layer have no max_neighbors", layer, &QueryStep::max_neighbors, 5);
    add("walk have no edge_types", walk, &QueryStep::edge_types, std::vector<std::string>{"knows"});
    add("walk have no edge_columns", walk, &QueryStep::edge_columns,
        std::vector<std::string>{"weight"});
    add("layer have no among", layer, &QueryStep::among, std::vector<std::string>{"src"});
    QueryStep induced;
    induced.name = "a";
    induced.kind = StepKind::kInduced;
    induced.among = {"src"};
    induced.type = "knows";
    add("induced go on from no other step", induced, &QueryStep::from, "src");
    add("induced have no count", induced, &QueryStep::count, 5);
    add("induced have no limit", induced, &QueryStep::limit, 5);
    add("induced have no node_type", induced, &QueryStep::node_type, "user");
    add("walk have no num_walks", walk, &QueryStep::num_walks, 3);
    add("walk have no exclude_start", walk, &QueryStep::exclude_start, true);
    add("nodes have no top", nodes, &QueryStep::top, 3);
    add("walk have no type", walk, &QueryStep::type, "knows");
    add("walk have no count", walk, &QueryStep::count, 5);
    add("walk have no by", walk, &QueryStep::by, "weight");
    add("walk have no limit", walk, &QueryStep::limit, 5);
    return steps;
  }();
  for (const auto& [expected, step] : wrong) {
    Query query;
    query.Nodes("src", "user");
    query.steps.push_back(step);
    const absl::Status status = ResolveQuery(TypedSchema(), query).status();
    INFO(status);
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(std::string(status.message()).find(expected) != std::string::npos);
  }
  Query many;
  for (int64_t i = 0; i <= kMostQuerySteps; ++i) many.Nodes("s" + std::to_string(i), "user");
  VICINITY_CHECK_CODE(ResolveQuery(TypedSchema(), many).status(),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(ResolveQuery(TypedSchema(), Query()).status(),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

#include "client/prepared_query.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

TEST_CASE("a query is prepared once and run again and again", "[query]") {
  const RoutedGraph on_disk(testing::TypedGraph(120, 80, 20, 6), 3);
  GraphOptions options;
  options.directory = on_disk.directory();
  const std::unique_ptr<Graph> graph = Value(Graph::Open(options));
  Query query;
  query.Nodes("items", "item").input = "seeds";
  QueryStep& users = query.Neighbors("users", "items", "buys", 3);
  users.edge_ids = true;
  users.columns = {"label"};
  const std::unique_ptr<PreparedQuery> prepared = Value(PreparedQuery::Make(graph.get(), query));
  CHECK(prepared->node_types() == std::vector<int32_t>{1, 0});
  CHECK(prepared->query().Text() == query.Text());

  const std::vector<int64_t> seeds = {5, 60, 5};
  const QueryAnswer first = Value(prepared->Run({{"seeds", seeds}}, {1, 2, 3}));
  const QueryAnswer again = Value(prepared->Run({{"seeds", seeds}}, {1, 2, 3}));
  const QueryAnswer other = Value(prepared->Run({{"seeds", seeds}}, {1, 2, 4}));
  CHECK(first.Find("items")->nodes == seeds);
  CHECK(first.Find("users")->edge_ids == again.Find("users")->edge_ids);
  CHECK(first.Find("users")->edge_ids != other.Find("users")->edge_ids);
  const Rows labels = Value(graph->Fetch(0, "label", first.Find("users")->nodes));
  CHECK(first.Find("users")->columns[0].bytes == labels.bytes);

  const std::vector<StepCost> costs = Value(prepared->Explain({{"seeds", 3}}));
  REQUIRE(costs.size() == 2);
  CHECK(costs[0].nodes == 3);
  CHECK(costs[1].name == "users");
}

TEST_CASE("errors of queries are those of the library", "[query]") {
  const RoutedGraph on_disk(testing::RandomGraph({}), 2);
  GraphOptions options;
  options.directory = on_disk.directory();
  const std::unique_ptr<Graph> graph = Value(Graph::Open(options));
  CHECK(Query::Parse("a = b").error().code() == ErrorCode::kInvalidArgument);
  CHECK(PreparedQuery::Make(nullptr, Query()).error().code() == ErrorCode::kInvalidArgument);
  const Query unknown = Value(Query::Parse("a = nodes(paper)"));
  CHECK(PreparedQuery::Make(graph.get(), unknown).error().code() == ErrorCode::kNotFound);
  const Query query = Value(Query::Parse("a = nodes(node, $seeds)"));
  const std::unique_ptr<PreparedQuery> prepared = Value(PreparedQuery::Make(graph.get(), query));
  CHECK(prepared->Run({}).error().code() == ErrorCode::kInvalidArgument);
  CHECK(prepared->Explain({{"other", 1}}).error().code() == ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

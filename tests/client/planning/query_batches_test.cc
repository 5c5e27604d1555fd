#include "client/planning/query_batches.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/query/query.h"
#include "client/query/query_text.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "sampler/minibatch_sampler.h"
#include "tests/client/query/run_query.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr NodeTypeId kUser{0}, kItem{1}, kTag{2};

absl::StatusOr<std::unique_ptr<QueryBatches>> Create(const testing::RoutedGraph& graph,
                                                     const std::string& text) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Query query, ParseQuery(text));
  return QueryBatches::Create(graph.dataset(), query);
}

std::unique_ptr<QueryBatches> MakeBatches(const testing::RoutedGraph& graph,
                                          const std::string& text) {
  absl::StatusOr<std::unique_ptr<QueryBatches>> batches = Create(graph, text);
  VICINITY_REQUIRE_OK(batches.status());
  return *std::move(batches);
}

std::vector<std::set<int64_t>> Needed(const QueryBatches& batches,
                                      const std::vector<int64_t>& seeds, uint64_t batch) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<std::vector<int64_t>> nodes,
                                batches.NodesOf(seeds, testing::Draw(batch)));
  std::vector<std::set<int64_t>> sets;
  for (const std::vector<int64_t>& of_type : nodes) {
    sets.emplace_back(of_type.begin(), of_type.end());
    CHECK(std::vector<int64_t>(sets.back().begin(), sets.back().end()) == of_type);
  }
  return sets;
}

// What a run of the query gives: the nodes of these steps.
std::vector<std::set<int64_t>> Answered(const testing::RoutedGraph& graph, const std::string& text,
                                        const std::vector<int64_t>& seeds, uint64_t batch,
                                        const std::set<std::string>& steps) {
  const std::unique_ptr<QueryRunner> runner = testing::Make(graph, text);
  VICINITY_ASSERT_OK_AND_ASSIGN(const QueryAnswer answer,
                                runner->Run({{"seeds", seeds}}, testing::Draw(batch), nullptr));
  std::vector<std::set<int64_t>> nodes(3);
  for (const StepAnswer& step : answer.steps) {
    if (steps.count(step.name) == 0) continue;
    nodes[step.node_type].insert(step.nodes.begin(), step.nodes.end());
  }
  return nodes;
}

TEST_CASE("a batch needs the nodes of the steps that bring columns, or of all where none does",
          "[planning]") {
  const testing::RoutedGraph graph(testing::TypedGraph(40, 30, 8, 4), 3);
  const std::string bare =
      "src = nodes(user, $seeds)\n"
      "walk = walk(src, [item:bought_by:user, user:buys:item], 4)\n"
      "bought = layer(src, item:bought_by:user, 6)\n"
      "more = neighbors(bought, user:buys:item, 2, edge_ids=true)\n";
  const std::string fetching =
      "src = nodes(user, $seeds)\n"
      "walk = walk(src, [item:bought_by:user, user:buys:item], 4)\n"
      "bought = layer(src, item:bought_by:user, 6, columns=[features])\n"
      "more = neighbors(bought, user:buys:item, 2, edge_ids=true, edge_columns=[weight])\n";
  const std::vector<int64_t> seeds = {3, 17, 17, 39};
  const auto bare_batches = MakeBatches(graph, bare);
  const auto fetching_batches = MakeBatches(graph, fetching);
  CHECK_FALSE(bare_batches->brings_columns());
  CHECK(fetching_batches->brings_columns());
  for (uint64_t batch = 0; batch < 4; ++batch) {
    CHECK(Needed(*bare_batches, seeds, batch) ==
          Answered(graph, bare, seeds, batch, {"src", "walk", "bought", "more"}));
    CHECK(Needed(*fetching_batches, seeds, batch) ==
          Answered(graph, fetching, seeds, batch, {"bought"}));
  }
  CHECK(Needed(*bare_batches, seeds, 0) != Needed(*bare_batches, seeds, 1));
  CHECK(bare_batches->needs(kUser));
  CHECK(bare_batches->needs(kItem));
  CHECK_FALSE(bare_batches->needs(kTag));
  const NodeTypeId bought{graph.router().schema().FindNodeType("item")};
  CHECK(fetching_batches->needs(bought) != fetching_batches->needs(kUser));
  CHECK(fetching_batches->columns(bought).size() == 1);
  CHECK(fetching_batches->columns(kTag).empty());
}

TEST_CASE("seeds are of the type of the query's one input", "[planning]") {
  const testing::RoutedGraph graph(testing::TypedGraph(40, 30, 8, 4), 2);
  const auto batches = MakeBatches(graph,
                                   "src = nodes(item, $some); near = walk(src, user:buys:item, 1, "
                                   "node_type=user)");
  CHECK(batches->input() == "some");
  CHECK(batches->seed_type() == kItem);
  CHECK(batches->MinibatchesLike(8).num_hops() == 1);
}

TEST_CASE("a query that no batch's seeds can be given to is refused", "[planning]") {
  const testing::RoutedGraph graph(testing::TypedGraph(40, 30, 8, 4), 2);
  std::string text;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  SECTION("no input") { text = "src = nodes(user, count=5)"; }
  SECTION("two inputs") { text = "a = nodes(user, $a); b = nodes(user, $b)"; }
  SECTION("of two types") { text = "a = nodes(user, $a); b = nodes(item, $a)"; }
  SECTION("no such step") { text = "a = nodes(user, $a); b = walk(x, user:knows:user, 2)"; }
  SECTION("no such column") {
    text = "a = nodes(user, $a, columns=[color])";
    code = absl::StatusCode::kNotFound;
  }
  SECTION("no such edges") {
    text = "a = nodes(user, $a); b = walk(a, user:likes:user, 2)";
    code = absl::StatusCode::kNotFound;
  }
  VICINITY_CHECK_CODE(Create(graph, text).status(), code);
}

TEST_CASE("a batch fails as the query does", "[planning]") {
  const testing::RoutedGraph graph(testing::TypedGraph(40, 30, 8, 4), 2);
  const auto batches = MakeBatches(graph, "src = nodes(user, $seeds)");
  VICINITY_CHECK_CODE(batches->NodesOf({40}, testing::Draw(0)).status(),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

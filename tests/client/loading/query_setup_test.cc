#include "client/loading/query_setup.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/loading/batch_rows.h"
#include "client/loading/loader_core.h"
#include "client/loading/row_cache.h"
#include "client/query/query.h"
#include "client/query/query_steps.h"
#include "client/query/query_text.h"
#include "client/query/seed_input.h"
#include "client/types/loader_values.h"
#include "client/types/seed_values.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr const char* kText =
    "src = nodes(user, $seeds, columns=[features])\n"
    "near = neighbors(src, knows, 3, columns=[label, features])\n"
    "items = neighbors(near, bought_by, 3, columns=[price])\n";

std::vector<ResolvedStep> Steps(const RoutedGraph& graph) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Query query, ParseQuery(kText));
  VICINITY_ASSERT_OK_AND_ASSIGN(std::vector<ResolvedStep> steps,
                                ResolveQuery(graph.router().schema(), query));
  return steps;
}

absl::Status Create(const RoutedGraph& graph, const std::string& text,
                    const LoaderOptions& options) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Query query, ParseQuery(text));
  return LoaderCore::CreateForQuery(graph.router(), query, options).status();
}

TEST_CASE("a loader brings each column of the steps, once, and has the input's type for seeds",
          "[query_setup]") {
  const RoutedGraph graph(testing::TypedGraph(40, 30, 10, 2), 2, {1});
  const std::vector<ResolvedStep> steps = Steps(graph);
  const SeedInput inputs[] = {{"seeds", NodeTypeId{0}}};
  const LoaderOptions options = OptionsOfQuery(graph.router().schema(), steps, inputs, {});
  CHECK(options.seed_type == "user");
  REQUIRE(options.columns.size() == 3);
  CHECK(options.columns[0].column == "features");
  CHECK(options.columns[1].column == "label");
  CHECK(options.columns[2].node_type == "item");
  CHECK(options.columns[2].column == "price");
}

TEST_CASE("plans of one column for several steps share its pool, which is counted once",
          "[query_setup]") {
  const RoutedGraph graph(testing::TypedGraph(40, 30, 10, 2), 2, {1});
  const std::vector<ResolvedStep> steps = Steps(graph);
  std::vector<ColumnPlan> made(3);
  const int32_t price = graph.router().schema().node_types[1].FindColumn("price");
  const int32_t columns[] = {0, 1, price};
  for (int c = 0; c < 3; ++c) {
    made[c].type = {c == 2 ? 1 : 0};
    made[c].column = columns[c];
    made[c].cache_rows = 10 + c;
    VICINITY_ASSERT_OK_AND_ASSIGN(
        made[c].pool, FillPool(graph.router(), made[c].type, made[c].column, 10 + c, {}));
  }
  const std::vector<ColumnPlan> plans = ColumnsOfSteps(steps, made);
  REQUIRE(plans.size() == 4);
  CHECK(plans[0].pool == made[0].pool);
  CHECK(plans[1].pool == made[1].pool);
  CHECK(plans[2].pool == made[0].pool);
  CHECK(plans[3].pool == made[2].pool);
  std::vector<int64_t> kept;
  std::vector<int32_t> lists;
  for (const ColumnPlan& plan : plans) {
    kept.push_back(plan.cache_rows);
    lists.push_back(plan.nodes());
  }
  CHECK(kept == std::vector<int64_t>{10, 11, 0, 12});
  CHECK(lists == std::vector<int32_t>{0, 1, 1, 2});
}

TEST_CASE("options of minibatches alone are refused by a query's loader, each by its name",
          "[query_setup]") {
  const RoutedGraph graph(testing::TypedGraph(40, 30, 10, 2), 2, {1});
  VICINITY_CHECK_OK(Create(graph, kText, {}));
  const std::vector<std::pair<std::string, std::function<void(LoaderOptions*)>>> given = {
      {"fanouts",
       [&](LoaderOptions* o) {
         o->sampling = SamplingSpec::Uniform(graph.router().schema(), {3});
       }},
      {"fanouts", [](LoaderOptions* o) { o->sampling.replace = true; }},
      {"fanouts", [](LoaderOptions* o) { o->sampling.subgraph = Subgraph::kInduced; }},
      {"columns",
       [](LoaderOptions* o) {
         o->columns = {{"user", "label"}};
       }},
      {"edge_columns",
       [](LoaderOptions* o) {
         o->edge_columns = {{"buys", "weight"}};
       }},
      {"edge_ids", [](LoaderOptions* o) { o->edge_ids = true; }},
      {"user_ids", [](LoaderOptions* o) { o->user_ids = true; }},
      {"exclude", [](LoaderOptions* o) { o->exclude = LinkExclusion::kSelf; }},
      {"negatives", [](LoaderOptions* o) { o->negatives.mode = NegativeMode::kBinary; }},
      {"device", [](LoaderOptions* o) { o->placement = Placement::kDevice; }},
      {"has 1 inputs",
       [](LoaderOptions* o) {
         o->seeds = LinkList{"knows", GlobalIds{{1}}, GlobalIds{{2}}};
       }},
      {"times", [](LoaderOptions* o) { o->seed_times = {1}; }},
      {"seed_type is item", [](LoaderOptions* o) { o->seed_type = "item"; }},
      {"batch_size", [](LoaderOptions* o) { o->batch_size = 0; }},
      {"fetch_threads", [](LoaderOptions* o) { o->fetch_threads = 0; }},
  };
  for (const auto& [what, give] : given) {
    CAPTURE(what);
    LoaderOptions options;
    give(&options);
    const absl::Status refused = Create(graph, kText, options);
    VICINITY_CHECK_CODE(refused, absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(refused.message()), Catch::Contains(what));
  }
}

TEST_CASE("a query that takes no seeds, or does not fit the graph, makes no loader",
          "[query_setup]") {
  const RoutedGraph graph(testing::TypedGraph(40, 30, 10, 2), 2, {1});
  VICINITY_CHECK_CODE(Create(graph, "all = nodes(user)\n", {}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(Create(graph, "a = nodes(user, $a)\nb = nodes(user, $b)\n", {}),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(Create(graph, "a = nodes(paper, $a)\n", {}), absl::StatusCode::kNotFound);
}

TEST_CASE("links go to two inputs, of their sources' type and their targets', in the query's order",
          "[query_setup]") {
  const RoutedGraph graph(testing::TypedGraph(40, 30, 10, 2), 2, {1});
  LoaderOptions options;
  options.seeds = LinkList{"buys", GlobalIds{{1}}, GlobalIds{{2}}};
  constexpr char kUsers[] = "u = nodes(user, $u)\n";
  constexpr char kItems[] = "i = nodes(item, $i)\n";
  VICINITY_CHECK_OK(Create(graph, std::string(kUsers) + kItems, options));
  const absl::Status swapped = Create(graph, std::string(kItems) + kUsers, options);
  VICINITY_CHECK_CODE(swapped, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(swapped.message()), Catch::Contains("$i takes item"));
  VICINITY_CHECK_CODE(Create(graph, "i = nodes(item)\n", options),
                      absl::StatusCode::kInvalidArgument);
  options.seeds = LinkList{"sells", GlobalIds{{1}}, GlobalIds{{2}}};
  VICINITY_CHECK_CODE(Create(graph, std::string(kUsers) + kItems, options),
                      absl::StatusCode::kNotFound);
}

TEST_CASE("a name that no ranking has was made for nothing", "[query_setup]") {
  const RoutedGraph graph(testing::TypedGraph(40, 30, 10, 2), 2, {1});
  CHECK(MadeForMinibatches(graph.router(), "default") == "");
}

}  // namespace
}  // namespace vicinity

#include "client/planning/policy_report.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "cache/policies/trainer_view.h"
#include "cache/policies/vip.h"
#include "client/planning/home_plan.h"
#include "client/planning/sampled_trace.h"
#include "client/query/query_text.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

struct Fixture {
  Fixture() {
    testing::RandomGraphOptions graph_options;
    graph_options.num_nodes = 300;
    graph_options.num_edges = 1500;
    const testing::MemoryGraph graph = testing::RandomGraph(graph_options);
    VICINITY_REQUIRE_OK(
        testing::WriteGraph(graph, testing::Shuffled(graph, 3, 5), folder.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset, Dataset::Open(folder.File("d")));
    VipRequest flags;
    flags.fanouts = {3, 2};
    flags.batch_size = 8;
    flags.homes = "0/1,2";
    VICINITY_ASSERT_OK_AND_ASSIGN(plan, PlanHomes(*dataset, AssignmentOf(dataset->book()), flags));
    options.replication = {0.5, 0.1};
    options.depth = 3;
    options.windows = {3, 9};
  }

  testing::TempDir folder;
  std::unique_ptr<Dataset> dataset;
  HomePlan plan;
  PolicyReportOptions options;
};

TEST_CASE("the report sums up what each trainer's policies come to", "[policies]") {
  const Fixture fixture;
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const PolicyReport report,
      CountPolicies(*fixture.dataset, fixture.plan, fixture.options, NoProgress()));
  CHECK(report.num_trainers == 2);
  CHECK(report.num_epochs == 2);
  REQUIRE(report.sizes.size() == 2);
  CHECK(report.sizes[0].total_rows == 50);
  CHECK(report.sizes[1].total_rows == 10);

  double used = 0;
  double vip_fetched = 0;  // with 50 rows
  for (size_t home = 0; home < 2; ++home) {
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const TrainerView view,
        TrainerView::Create(fixture.dataset.get(), fixture.plan.homes[home],
                            fixture.plan.seeds[home], fixture.plan.options));
    TraceOptions options;
    options.num_epochs = 2;
    VICINITY_ASSERT_OK_AND_ASSIGN(const AccessTrace trace,
                                  SampleTrace(view, options, NoProgress()));
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto vip, MakeVipPolicy(view));
    VICINITY_ASSERT_OK_AND_ASSIGN(const PolicyCount count, vip->Count(trace, {50, 3}));
    used += trace.num_uses() / 2.0;
    vip_fetched += count.fetched / 2.0;
  }
  CHECK(report.used == Approx(used));
  std::map<std::string, PolicyReport::Cell> cells;
  for (const PolicyReport::Line& line : report.lines) cells[line.policy] = line.cells[0];
  CHECK(cells.size() == 12);
  CHECK(cells["none"].fetched <= used);
  CHECK(cells["none"].fetched > 0);
  CHECK(cells["vip"].fetched == Approx(vip_fetched));
  CHECK(cells["belady"].fetched <= cells["next-use-9"].fetched);
}

TEST_CASE("report options that make no sense are refused", "[policies]") {
  PolicyReportOptions options;
  VICINITY_CHECK_OK(options.Validate());
  SECTION("no sizes") { options.replication.clear(); }
  SECTION("negative size") { options.replication.push_back(-0.1); }
  SECTION("no number") { options.replication.push_back(std::stod("nan")); }
  SECTION("epochs") { options.num_epochs = 0; }
  SECTION("simulated epochs") { options.num_simulated_epochs = 0; }
  SECTION("depth") { options.depth = 0; }
  SECTION("window") { options.windows = {-1}; }
  VICINITY_CHECK_CODE(options.Validate(), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("of a query its answers are counted, and its ranking is a policy", "[policies]") {
  Fixture fixture;
  VipRequest request;
  request.batch_size = 8;
  request.homes = "0/1,2";
  VICINITY_ASSERT_OK_AND_ASSIGN(request.query,
                                ParseQuery("src = nodes(node, $seeds); w = walk(src, links, 4)"));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      fixture.plan, PlanHomes(*fixture.dataset, AssignmentOf(fixture.dataset->book()), request));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const PolicyReport report,
      CountPolicies(*fixture.dataset, fixture.plan, fixture.options, NoProgress()));
  double used = 0;
  for (size_t home = 0; home < 2; ++home) {
    const HomePlan& plan = fixture.plan;
    VICINITY_ASSERT_OK_AND_ASSIGN(const TrainerView view,
                                  TrainerView::Create(fixture.dataset.get(), plan.homes[home],
                                                      plan.seeds[home], plan.options));
    TraceOptions options;
    options.num_epochs = 2;
    options.query = plan.query.get();
    VICINITY_ASSERT_OK_AND_ASSIGN(const AccessTrace trace,
                                  SampleTrace(view, options, NoProgress()));
    used += trace.num_uses() / 2.0;
  }
  CHECK(report.used == Approx(used));
  std::map<std::string, PolicyReport::Cell> cells;
  for (const PolicyReport::Line& line : report.lines) cells[line.policy] = line.cells[0];
  CHECK(cells.size() == 13);
  REQUIRE(cells.count("query-ranking") == 1);
  CHECK(cells["query-ranking"].fetched < cells["none"].fetched);
  CHECK(cells["query-ranking"].fetched >= cells["oracle"].fetched);
}

}  // namespace
}  // namespace vicinity

#include "client/planning/transfer_planner.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "client/planning/transfer_plan.h"
#include "client/query/query_text.h"
#include "client/types/loader_values.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"
#include "tests/client/planning/timed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

struct Fixture {
  Fixture() {
    testing::RandomGraphOptions shape;
    shape.num_nodes = 400;
    shape.num_edges = 2000;
    const testing::MemoryGraph graph = testing::RandomGraph(shape);
    VICINITY_REQUIRE_OK(
        testing::WriteGraph(graph, testing::Shuffled(graph, 4, 3), folder.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset, Dataset::Open(folder.File("d")));
    request.vip.fanouts = {3, 2};
    request.vip.batch_size = 8;
  }

  TransferPlan Plan() const {
    VICINITY_ASSERT_OK_AND_ASSIGN(TransferPlan plan,
                                  PlanTransfers(*dataset, request, NoProgress()));
    return plan;
  }

  testing::TempDir folder;
  std::unique_ptr<Dataset> dataset;
  PlanRequest request;
};

TEST_CASE("more cache never costs more, all that is remote costs nothing", "[planning]") {
  Fixture fixture;
  const TransferPlan plan = fixture.Plan();
  CHECK(plan.model.row_bytes == 32);  // eight floats
  CHECK(plan.model.num_homes == 4);
  REQUIRE(plan.loader.has_value());
  CHECK(plan.loader->num_counted >= fixture.request.loader.least_batches);
  for (size_t i = 1; i < plan.sizes.size(); ++i) {
    CHECK(plan.sizes[i].rows <= plan.sizes[i - 1].rows);
    // What a loader fetches is never more than what each of its batches alone would.
    CHECK(plan.sizes[i].rows <= plan.alone_rows[i] + 1e-9);
  }
  CHECK(plan.sizes.back().rows == 0);
}

TEST_CASE("sizes that are asked for are counted, not interpolated", "[planning]") {
  Fixture fixture;
  fixture.request.loader.fetch_ahead = 1;
  fixture.request.cache_rows = {170, 0, 90, 170};
  const TransferPlan plan = fixture.Plan();
  REQUIRE(plan.sizes.size() == 3);
  CHECK(plan.sizes[0].cache_rows == 0);
  CHECK(plan.sizes[1].cache_rows == 90);
  CHECK(plan.sizes[1].share == Approx(0.9));  // of 100 nodes
  CHECK(plan.sizes[2].cache_rows == 170);
  // One size more changes nothing at the others: each is replayed on its own.
  fixture.request.cache_rows = {90, 91};
  CHECK(fixture.Plan().sizes[0].rows == plan.sizes[1].rows);
}

TEST_CASE("wishes are met by the smallest cache that meets them", "[planning]") {
  Fixture fixture;
  fixture.request.loader.fetch_ahead = 1;
  fixture.request.share = 0.5;
  fixture.request.cache_bytes = 3200;
  fixture.request.more_bytes = 1600;
  const TransferPlan plan = fixture.Plan();
  REQUIRE(plan.enough.has_value());
  CHECK(plan.enough->rows <= plan.sizes.front().rows / 2);
  CHECK(plan.estimate->RowsPerBatch(plan.enough->cache_rows - 1) > plan.sizes.front().rows / 2);
  CHECK(plan.before->cache_rows == 100);
  CHECK(plan.more->cache_rows == 150);
}

TEST_CASE("the formula alone plans for no loader", "[planning]") {
  Fixture fixture;
  fixture.request.loader.least_batches = 0;
  const TransferPlan plan = fixture.Plan();
  CHECK_FALSE(plan.loader.has_value());
  CHECK(plan.sizes.front().rows == plan.alone_rows.front());
}

TEST_CASE("links with times are planned, dealt from all as the loader deals them", "[planning]") {
  const testing::TempDir folder;
  const testing::MemoryGraph graph = testing::TimedGraph(400, 2000, 1);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 4, 3), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(folder.File("d")));
  PlanRequest request;
  request.vip.fanouts = {3, 2};
  request.vip.batch_size = 8;
  request.vip.seed_links = "links";
  request.vip.disjoint = true;
  request.vip.time_column = "time";
  request.row_bytes = 32;
  VICINITY_ASSERT_OK_AND_ASSIGN(const TransferPlan plan,
                                PlanTransfers(*dataset, request, NoProgress()));
  REQUIRE(plan.loader.has_value());
  CHECK(plan.loader->text.find("from all") != std::string::npos);
  CHECK(plan.model.steps == (2000 + 31) / 32);  // of four trainers
  CHECK(plan.sizes.front().rows > 0);
  CHECK(plan.sizes.back().rows == 0);
  request.seed_policy = SeedPolicy::kHome;  // as the loader has no times for those
  VICINITY_CHECK_CODE(PlanTransfers(*dataset, request, NoProgress()).status(),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a request that makes no sense is refused, naming it", "[planning]") {
  Fixture fixture;
  PlanRequest& request = fixture.request;
  SECTION("link") { request.link_gbps = 0; }
  SECTION("no number") { request.link_gbps = std::numeric_limits<double>::quiet_NaN(); }
  SECTION("trainers") { request.loader.trainers_per_home = 0; }
  SECTION("row") { request.row_bytes = -1; }
  SECTION("two wishes") { request.share = request.seconds = 1; }
  SECTION("cache") { request.cache_rows = {5, -1}; }
  SECTION("sizes") { request.more_bytes = -1; }
  SECTION("ahead") { request.loader.sample_ahead = -1; }
  SECTION("column") { request.columns = {"colour"}; }
  VICINITY_CHECK_CODE(PlanTransfers(*fixture.dataset, request, NoProgress()).status(),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("of a query a plan is of its answers alone, and of the columns that it brings",
          "[planning]") {
  Fixture fixture;
  fixture.request.loader.least_batches = 0;  // an answer is counted all the same
  const auto plan_of = [&](const std::string& text) {
    VICINITY_ASSERT_OK_AND_ASSIGN(fixture.request.vip.query, ParseQuery(text));
    return fixture.Plan();
  };
  const TransferPlan features =
      plan_of("src = nodes(node, $seeds); w = walk(src, links, 4, columns=[features])");
  CHECK_FALSE(features.loader.has_value());
  CHECK(features.query_batches > 0);
  CHECK(features.model.row_bytes == 32);
  CHECK(features.sizes.front().rows > 0);
  CHECK(features.sizes.back().rows == 0);
  for (size_t i = 1; i < features.sizes.size(); ++i) {
    CHECK(features.sizes[i].rows <= features.sizes[i - 1].rows);
  }
  CHECK(features.all_rows <= 8 * 5);  // eight walks of five nodes
  CHECK(plan_of("src = nodes(node, $seeds, columns=[label]); w = walk(src, links, 4)")
            .model.row_bytes == 4);
  // Who fetches himself takes what a loader would, or says what.
  CHECK(plan_of("src = nodes(node, $seeds); w = walk(src, links, 4)").model.row_bytes == 32);
  fixture.request.columns = {"label"};
  CHECK(plan_of("src = nodes(node, $seeds); w = walk(src, links, 4, columns=[features])")
            .model.row_bytes == 4);
}

}  // namespace
}  // namespace vicinity

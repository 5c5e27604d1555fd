#include "client/planning/graph_cut.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/planning/home_plan.h"
#include "partition/cut/hash_assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/ranking.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

class Fixture {
 public:
  explicit Fixture(bool splits = true) {
    testing::RandomGraphOptions options;
    options.num_nodes = 300;
    options.num_edges = 1500;
    options.splits = splits;
    graph_ = testing::RandomGraph(options);
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, folder_.File("source")));
    VICINITY_ASSERT_OK_AND_ASSIGN(source_, Dataset::Open(folder_.File("source")));
  }

  const Dataset& source() const { return *source_; }
  const testing::MemoryGraph& graph() const { return graph_; }
  CutRequest Request() const {
    CutRequest request;
    request.output = folder_.File("cut");
    request.num_shards = 3;
    request.vip.fanouts = {4, 2};
    request.vip.batch_size = 8;
    request.provenance = "a test";
    return request;
  }

 private:
  const testing::TempDir folder_;
  testing::MemoryGraph graph_;
  std::unique_ptr<Dataset> source_;
};

TEST_CASE("a graph is cut without any terminal, and told what became of it", "[planning]") {
  const Fixture fixture;
  const CutRequest request = fixture.Request();
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::optional<HomePlan> plan,
                                PlanForCut(fixture.source(), request));
  REQUIRE(plan.has_value());
  HashAssigner assigner;
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const PartitionReport report,
      CutGraph(fixture.source(), request, /*with_vip=*/true, &assigner, NoProgress()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> cut, Dataset::Open(request.output));
  CHECK(cut->book().num_shards() == 3);
  CHECK(testing::Difference(fixture.graph(), *cut).empty());
  CHECK(report.fingerprint == cut->manifest().fingerprint());
  CHECK(report.assigner == assigner.name());
  CHECK(report.num_nodes == 300);
  REQUIRE(report.expected.has_value());
  CHECK(report.expected->points.back().remote_rows == 0);
  CHECK(report.ranking.sampled_batches() > 0);
  CHECK_THAT(cut->manifest().provenance(), Catch::Contains("a test"));
  for (const std::vector<int32_t>& home : plan->homes) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Ranking> ranking,
                                  Ranking::Open(*cut, kDefaultRanking, home, NodeTypeId{0}));
    CHECK(ranking->size() > 0);
  }
}

TEST_CASE("without seeds to take a graph is cut in its own order, unranked", "[planning]") {
  const Fixture fixture(/*splits=*/false);
  CutRequest request = fixture.Request();
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::optional<HomePlan> plan,
                                PlanForCut(fixture.source(), request));
  CHECK_FALSE(plan.has_value());
  HashAssigner assigner;
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const PartitionReport report,
      CutGraph(fixture.source(), request, /*with_vip=*/false, &assigner, NoProgress()));
  CHECK_FALSE(report.expected.has_value());
  // Seeds that were asked for by name must be there.
  request.vip.seeds = "test";
  VICINITY_CHECK_CODE(PlanForCut(fixture.source(), request).status(),
                      absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("shards of no home, and no shards, are refused before any work", "[planning]") {
  const Fixture fixture;
  CutRequest request = fixture.Request();
  SECTION("no shards") { request.num_shards = 0; }
  SECTION("a shard of no home") { request.vip.homes = "0/1"; }
  SECTION("fanouts") { request.vip.fanouts = {-2}; }
  VICINITY_CHECK_CODE(PlanForCut(fixture.source(), request).status(),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

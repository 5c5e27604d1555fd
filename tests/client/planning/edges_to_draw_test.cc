#include "client/planning/edges_to_draw.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/whole_read.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "tests/client/planning/timed_graph.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

class Fixture {
 public:
  Fixture() : graph(testing::TimedGraph(60, 400, 1)) {
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 3, 5), folder.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset, Dataset::Open(folder.File("d")));
  }

  // That of all edges just those pass of which `passes(time)` holds; how many do.
  template <typename Passes>
  int64_t CheckPass(const SamplingSpec& spec, const TimeBounds& within, const Passes& passes) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const EdgeFilter filter, EdgesToDraw(*dataset, spec, within));
    REQUIRE(filter);
    int64_t num_passed = 0;
    for (const auto& shard : dataset->shards()) {
      const BaseLists lists(*shard, EdgeTypeId{0});
      VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<uint8_t> there,
                                    filter(EdgeTypeId{0}, *shard));
      REQUIRE(static_cast<int64_t>(there.size()) == lists.num_edges());
      for (int64_t i = 0; i < lists.num_edges(); ++i) {
        const bool passed = passes(testing::EdgeTime(graph, lists.edge_id(i)));
        REQUIRE((there[i] != 0) == passed);
        num_passed += passed ? 1 : 0;
      }
    }
    return num_passed;
  }

  const testing::TempDir folder;
  const testing::MemoryGraph graph;
  std::unique_ptr<Dataset> dataset;
};

SamplingSpec Timed(const Schema& schema) {
  SamplingSpec spec = SamplingSpec::Uniform(schema, {3});
  spec.disjoint = true;
  spec.time_column = "time";
  return spec;
}

TEST_CASE("edges that meet the condition, and are within the seeds' times, can be drawn", "[cli]") {
  Fixture fixture;
  SamplingSpec where = SamplingSpec::Uniform(fixture.graph.schema, {3});
  where.where = "time < 40";
  const int64_t early = fixture.CheckPass(where, {}, [](int64_t time) { return time < 40; });
  CHECK(early > 100);
  CHECK(early < 220);
  SamplingSpec timed = Timed(fixture.graph.schema);
  fixture.CheckPass(timed, {30, 70}, [](int64_t time) { return 30 <= time && time <= 70; });
  timed.where = "time < 40";
  const int64_t both =
      fixture.CheckPass(timed, {30, 70}, [](int64_t time) { return 30 <= time && time < 40; });
  CHECK(both < early);
}

TEST_CASE("without condition and times all edges can be drawn, and those of other types always",
          "[cli]") {
  const Fixture fixture;
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const EdgeFilter all,
      EdgesToDraw(*fixture.dataset, SamplingSpec::Uniform(fixture.graph.schema, {3}), {}));
  CHECK_FALSE(all);
  const testing::MemoryGraph typed = testing::TypedGraph(30, 20, 5, 1);
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteGraph(typed, folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  SamplingSpec spec = SamplingSpec::Uniform(typed.schema, {3});
  spec.where = "weight > 0.5";
  VICINITY_ASSERT_OK_AND_ASSIGN(const EdgeFilter some, EdgesToDraw(*dataset, spec, {}));
  const auto there = [&](const char* type) {
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const std::vector<uint8_t> bytes,
        some(EdgeTypeId{typed.schema.FindEdgeType(type)}, *dataset->shards()[0]));
    return bytes.size();
  };
  CHECK(there("buys") == typed.edges[typed.schema.FindEdgeType("buys")].sources.size());
  CHECK(there("knows") == 0);  // which has no such column
}

TEST_CASE("a damaged column of times is an error and no filter", "[cli]") {
  Fixture fixture;
  const std::string file =
      fixture.folder.File("d") + "/shard-00001/edges.node.links.node.column.time";
  testing::FlipBit(file, 75);
  VICINITY_ASSERT_OK_AND_ASSIGN(fixture.dataset, OpenForPasses(fixture.folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const EdgeFilter filter,
                                EdgesToDraw(*fixture.dataset, Timed(fixture.graph.schema), {}));
  VICINITY_CHECK_CODE(filter(EdgeTypeId{0}, *fixture.dataset->shards()[1]).status(),
                      absl::StatusCode::kDataLoss);
  SamplingSpec wrong = SamplingSpec::Uniform(fixture.graph.schema, {3});
  wrong.where = "time <";
  VICINITY_CHECK_CODE(EdgesToDraw(*fixture.dataset, wrong, {}).status(),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

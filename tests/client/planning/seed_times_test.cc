#include "client/planning/seed_times.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/planning/link_plan.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "tests/client/planning/timed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

struct Fixture {
  Fixture() : graph(testing::TimedGraph(60, 400, 1)), placement(testing::Shuffled(graph, 3, 5)) {
    VICINITY_REQUIRE_OK(WriteGraph(graph, placement, folder.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset, Dataset::Open(folder.File("d")));
  }
  const testing::TempDir folder;
  const testing::MemoryGraph graph;
  const testing::Placement placement;
  std::unique_ptr<Dataset> dataset;
};

TEST_CASE("every node has the time of its row, by its global id", "[cli]") {
  const Fixture fixture;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> times,
                                TimesOfNodes(*fixture.dataset, NodeTypeId{0}, "time"));
  REQUIRE(times.size() == 60);
  for (int64_t node = 0; node < 60; ++node) {
    const int64_t position = fixture.placement.PositionOf(NodeTypeId{0}, GlobalNode{node});
    CHECK(times[node] == testing::NodeTime(fixture.graph, position));
  }
}

TEST_CASE("every link has the time of its edge, by the number that its ends have", "[cli]") {
  const Fixture fixture;
  const std::vector<int32_t> shards = {0, 2};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> times,
                                TimesOfLinks(*fixture.dataset, EdgeTypeId{0}, "time", shards));
  const LinkIndex index(*fixture.dataset, EdgeTypeId{0}, shards);
  REQUIRE(static_cast<int64_t>(times.size()) == index.num_links());
  const auto at = [&](int64_t node) {
    return fixture.placement.PositionOf(NodeTypeId{0}, GlobalNode{node});
  };
  for (int64_t link = 0; link < index.num_links(); ++link) {
    const auto [source, target] = index.EndsOf(link);
    bool found = false;  // among parallel edges, too
    for (const testing::InEdge& edge : fixture.graph.InEdges(EdgeTypeId{0}, at(target))) {
      found = found || (edge.source == at(source) &&
                        testing::EdgeTime(fixture.graph, edge.edge_id) == times[link]);
    }
    REQUIRE(found);
  }
}

TEST_CASE("a column that holds no times is refused, with those that do", "[cli]") {
  const Fixture fixture;
  for (const char* column : {"features", "split", "when"}) {
    const absl::Status status = TimesOfNodes(*fixture.dataset, NodeTypeId{0}, column).status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(status.message()), Catch::Contains(column) && Catch::Contains(": time"));
  }
  VICINITY_CHECK_CODE(TimesOfLinks(*fixture.dataset, EdgeTypeId{0}, "when", {0}).status(),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

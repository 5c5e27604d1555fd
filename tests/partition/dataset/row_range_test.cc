#include "partition/dataset/row_range.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <utility>

#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::TempDir;

// Counts rows by (shard, type) and checks that ranges follow one another without gaps.
std::map<std::pair<int32_t, int32_t>, int64_t> Rows(const std::vector<RowRange>& ranges) {
  std::map<std::pair<int32_t, int32_t>, int64_t> rows;
  for (const RowRange& range : ranges) {
    int64_t& end = rows[{range.shard->id().value, range.type}];
    CHECK(range.begin == end);
    CHECK(range.end >= range.begin);
    end = range.end;
  }
  return rows;
}

TEST_CASE("ranges cover every row of every shard and type once", "[partition]") {
  TempDir dir;
  testing::MemoryGraph graph = testing::TypedGraph(70'000, 5, 0, 1);
  VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 2, 3), dir.File("set")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("set")));
  const auto nodes = Rows(NodeRanges(*dataset));
  const auto edges = Rows(EdgeRanges(*dataset));
  CHECK(nodes.size() == 2 * 3);
  CHECK(edges.size() == 2 * 5);
  for (const std::unique_ptr<Shard>& shard : dataset->shards()) {
    for (int32_t t = 0; t < 3; ++t) {
      CHECK(nodes.at({shard->id().value, t}) == shard->nodes(NodeTypeId{t}).num_nodes());
    }
    for (int32_t e = 0; e < 5; ++e) {
      CHECK(edges.at({shard->id().value, e}) == shard->edges(EdgeTypeId{e}).num_targets());
    }
  }
}

}  // namespace
}  // namespace vicinity

#include "partition/cut/node_facts.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "partition/dataset/dataset.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("splits, degrees and counts are those of the graph, whatever its cut", "[partition]") {
  const testing::TempDir folder;
  const testing::MemoryGraph graph = testing::TypedGraph(60, 40, 10, 1);
  const testing::Placement placement = testing::Shuffled(graph, GENERATE(1, 3), /*seed=*/2);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  int64_t num_edges = 0;
  for (const testing::MemoryEdges& edges : graph.edges) num_edges += edges.sources.size();
  CHECK(NumNodes(*dataset) == 110);
  CHECK(NumEdges(*dataset) == num_edges);

  for (int32_t t = 0; t < 3; ++t) {
    const NodeTypeId type{t};
    const NodeTypeSpec& spec = graph.schema.node_types[t];
    std::vector<int64_t> degrees(graph.num_nodes(type));
    for (size_t e = 0; e < graph.edges.size(); ++e) {
      if (graph.schema.edge_types[e].target_type != t) continue;
      for (const int64_t target : graph.edges[e].targets) ++degrees[target];
    }
    const std::vector<int64_t> found = InDegrees(*dataset, type);
    REQUIRE(found.size() == degrees.size());
    for (size_t node = 0; node < found.size(); ++node) {
      const int64_t position = placement.PositionOf(type, GlobalNode{static_cast<int64_t>(node)});
      CHECK(found[node] == degrees[position]);
    }
    CHECK(NodesInSplit(*dataset, type, Split::kNone).size() == degrees.size());

    const std::vector<Split> splits = ReadSplits(*dataset, type);
    std::vector<int64_t> train;
    if (spec.split_column.empty()) {
      CHECK(splits.empty());
    } else {
      REQUIRE(splits.size() == degrees.size());
      const int column = spec.FindColumn(spec.split_column);
      for (size_t node = 0; node < splits.size(); ++node) {
        const int64_t position = placement.PositionOf(type, GlobalNode{static_cast<int64_t>(node)});
        CHECK(static_cast<char>(splits[node]) == graph.row(type, column, position)[0]);
        if (splits[node] == Split::kTrain) train.push_back(static_cast<int64_t>(node));
      }
    }
    CHECK(NodesInSplit(*dataset, type, Split::kTrain) == train);
  }
}

}  // namespace
}  // namespace vicinity

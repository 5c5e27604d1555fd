#include "partition/cut/metis_graph.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partition/cut/metis_job.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

// Every undirected edge of the graph once in each direction, nodes counted over all types.
std::set<std::pair<int64_t, int64_t>> UndirectedEdges(const testing::MemoryGraph& graph) {
  std::vector<int64_t> begins = {0};
  for (const testing::MemoryNodes& nodes : graph.nodes) {
    begins.push_back(begins.back() + static_cast<int64_t>(nodes.keys.size()));
  }
  std::set<std::pair<int64_t, int64_t>> edges;
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    const EdgeTypeSpec& type = graph.schema.edge_types[e];
    for (size_t i = 0; i < graph.edges[e].sources.size(); ++i) {
      const int64_t source = begins[type.source_type] + graph.edges[e].sources[i];
      const int64_t target = begins[type.target_type] + graph.edges[e].targets[i];
      if (source == target) continue;
      edges.insert({source, target});
      edges.insert({target, source});
    }
  }
  return edges;
}

TEST_CASE("METIS gets every edge once each way, without loops, over all node types",
          "[partition]") {
  const testing::TempDir folder;
  testing::RandomGraphOptions dense;  // few nodes, many edges: loops and doubles
  dense.num_nodes = 20;
  const testing::MemoryGraph graph =
      GENERATE(0, 1) == 0 ? testing::RandomGraph(dense) : testing::TypedGraph(30, 20, 5, 3);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  const NodeWeights weights(*dataset);
  int64_t num_edges = 0;
  for (const testing::MemoryEdges& edges : graph.edges) num_edges += edges.sources.size();
  const int64_t capacity = MetisAdjacencyCapacity(num_edges);
  const int num_constraints = static_cast<int>(weights.present().size());
  std::vector<char> file(MetisJobBytes(weights.num_nodes(), num_constraints, capacity));
  const MetisJobOutput job = LayOutMetisJob(static_cast<int32_t>(weights.num_nodes()),
                                            num_constraints, capacity, absl::MakeSpan(file));
  FillMetisJob(*dataset, weights, job, NoProgress());

  std::set<std::pair<int64_t, int64_t>> found;
  REQUIRE(job.offsets[0] == 0);
  for (int32_t v = 0; v < job.header->num_nodes; ++v) {
    for (int32_t i = job.offsets[v]; i < job.offsets[v + 1]; ++i)
      found.insert({job.adjacency[i], v});
  }
  CHECK(found == UndirectedEdges(graph));
  CHECK(job.offsets.back() == static_cast<int32_t>(found.size()));
  CHECK(EstimateMetisAdjacency(*dataset) == job.offsets.back());
  for (int64_t node = 0; node < weights.num_nodes(); ++node) {
    for (int c = 0; c < num_constraints; ++c) {
      CHECK(job.weights[node * num_constraints + c] == weights.weight(node, weights.present()[c]));
    }
  }
}

TEST_CASE("how many edges will be left is told about right from a few of them", "[partition]") {
  const testing::TempDir folder;
  testing::RandomGraphOptions options;
  options.num_nodes = 300;  // 90,000 pairs, so that half the edges have company
  options.num_edges = 60000;
  const testing::MemoryGraph graph = testing::RandomGraph(options);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 2, 1), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  const double exact = static_cast<double>(UndirectedEdges(graph).size());
  CHECK(static_cast<double>(EstimateMetisAdjacency(*dataset)) == Approx(exact).epsilon(0.05));
}

// Of nodes on a ring, each with edges from those at the distances that `is_neighbor` says.
template <typename IsNeighbor>
double CoarseShareOf(int64_t num_nodes, const IsNeighbor& is_neighbor) {
  testing::RandomGraphOptions options;
  options.num_nodes = num_nodes;
  options.num_edges = 0;
  testing::MemoryGraph graph = testing::RandomGraph(options);
  for (int64_t source = 0; source < num_nodes; ++source) {
    for (int64_t target = 0; target < num_nodes; ++target) {
      if (source == target || !is_neighbor((source - target + num_nodes) % num_nodes)) continue;
      graph.edges[0].sources.push_back(source);
      graph.edges[0].targets.push_back(target);
    }
  }
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 2, 1), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  return EstimateCoarseShare(*dataset);
}

TEST_CASE("pairs of joined nodes have the edges that exact counting gives them", "[partition]") {
  // A ring of pairs has every other edge left.
  CHECK(CoarseShareOf(600, [](int64_t distance) { return distance == 1 || distance == 599; }) ==
        Approx(0.5).epsilon(0.1));
  // 30 pairs are each other's neighbours as 60 nodes were.
  CHECK(CoarseShareOf(60, [](int64_t) { return true; }) ==
        Approx(30.0 * 29 / (60 * 59)).epsilon(0.05));
  CHECK(CoarseShareOf(10, [](int64_t) { return false; }) == 0);
}

TEST_CASE("a node weighs one in its role and its in-degree in edges", "[partition]") {
  const testing::TempDir folder;
  const testing::MemoryGraph graph = testing::TypedGraph(200, 20, 5, 3);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  const NodeWeights weights(*dataset);
  int64_t num_edges = 0;
  for (const testing::MemoryEdges& edges : graph.edges) num_edges += edges.sources.size();
  CHECK(weights.num_nodes() == 225);
  CHECK(weights.total(Constraint::kInEdges) == num_edges);
  CHECK(weights.total(Constraint::kTrain) + weights.total(Constraint::kValidation) +
            weights.total(Constraint::kOther) ==
        225);
  CHECK(weights.present().size() == 4);
  const NodeTypeSpec& user = graph.schema.node_types[0];
  const int column = user.FindColumn(user.split_column);
  for (int64_t node = 0; node < 200; ++node) {
    const auto split = static_cast<Split>(graph.row(NodeTypeId{0}, column, node)[0]);
    CHECK(weights.weight(node, Constraint::kTrain) == (split == Split::kTrain ? 1 : 0));
    CHECK(weights.weight(node, Constraint::kValidation) == (split == Split::kValidation ? 1 : 0));
    CHECK(weights.weight(node, Constraint::kOther) ==
          (split == Split::kNone || split == Split::kTest ? 1 : 0));
  }
}

TEST_CASE("there is no constraint about what a graph does not have", "[partition]") {
  const testing::TempDir folder;
  testing::RandomGraphOptions options;
  options.splits = false;
  options.num_edges = 0;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::RandomGraph(options), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  CHECK(NodeWeights(*dataset).present() == std::vector<Constraint>{Constraint::kOther});
}

TEST_CASE("graphs that would overflow METIS' indices are refused", "[partition]") {
  constexpr int64_t kMillion = 1000000;
  VICINITY_CHECK_OK(CheckMetisLimits(500 * kMillion, 1000 * kMillion));
  for (const auto& [nodes, edges] : std::vector<std::pair<int64_t, int64_t>>{
           {600 * kMillion, 1}, {2, 1100 * kMillion}, {int64_t{1} << 40, int64_t{1} << 50}}) {
    const absl::Status status = CheckMetisLimits(nodes, edges);
    VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
    CHECK_THAT(std::string(status.message()), Catch::Contains("hash") && Catch::Contains("range"));
  }
}

}  // namespace
}  // namespace vicinity

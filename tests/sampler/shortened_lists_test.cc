#include "sampler/shortened_lists.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"
#include "sampler/excluded_edges.h"
#include "sampler/local_sampler.h"
#include "sampler/one_hop.h"
#include "tests/sampler/chi_square.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::InEdge;
using testing::MemoryGraph;

// What a uniform draw gives is the contract's (tests/contract) and, against a graph that never had
// the edges, that of tests/client/loading/batch_sampler_test.cc.
TEST_CASE("draws by weight are among what is left of a list, each by its weight",
          "[shortened_lists]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 30;
  options.num_edges = 600;
  options.weights = true;
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, dir.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("graph")));
  const std::vector<InEdge> list = graph.InEdges({0}, 4);
  // Half of its sources, so most of the weight.
  std::vector<ExcludedEdge> excluded;
  for (size_t i = 0; i < list.size(); i += 2) excluded.push_back({0, list[i].source});
  std::vector<double> weights;
  std::vector<int64_t> edge_ids;
  double all = 0;
  for (const InEdge& edge : list) {
    float weight = 0;
    std::memcpy(&weight, graph.edge_row({0}, 0, edge.edge_id).data(), sizeof(weight));
    const bool is_out =
        std::find(excluded.begin(), excluded.end(), ExcludedEdge{0, edge.source}) != excluded.end();
    if (is_out || weight == 0) continue;
    weights.push_back(weight);
    edge_ids.push_back(edge.edge_id);
    all += weight;
  }
  REQUIRE(edge_ids.size() > 3);
  constexpr int64_t kDraws = 1'000'000;
  OneHopOptions draws;
  draws.fanout = 1 << 10;
  draws.replace = true;
  draws.weighted = true;
  draws.want_edge_ids = true;
  draws.excluded = excluded;
  std::vector<int64_t> counts(edge_ids.size());
  for (draws.stream = 0; draws.stream * draws.fanout < kDraws; ++draws.stream) {
    Neighbors drawn;
    VICINITY_REQUIRE_OK(
        SampleLists(ShardReader(*dataset->shard({0})), {0}, {0}, {4}, draws, &drawn));
    for (const int64_t edge : drawn.edge_ids) {
      const auto found = std::find(edge_ids.begin(), edge_ids.end(), edge);
      REQUIRE(found != edge_ids.end());
      ++counts[found - edge_ids.begin()];
    }
  }
  std::vector<double> expected;
  for (const double weight : weights) {
    expected.push_back(static_cast<double>(draws.stream * draws.fanout) * weight / all);
  }
  CHECK(testing::ChiSquare(counts, expected) <
        testing::ChiSquareLimit(static_cast<int64_t>(counts.size()) - 1));
}

TEST_CASE("excluded edges of targets that there are not are refused", "[shortened_lists]") {
  const MemoryGraph graph = testing::RandomGraph({});
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, dir.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("graph")));
  const ShardReader reader(*dataset->shard({0}));
  const std::vector<ExcludedEdge> excluded = {{0, 1}};
  OneHopOptions options;
  options.fanout = 2;
  options.excluded = excluded;
  Neighbors out;
  VICINITY_CHECK_CODE(SampleLists(reader, {0}, {0}, {100}, options, &out),
                      absl::StatusCode::kInvalidArgument);
  const std::vector<uint32_t> trees = {1, 2};
  options.trees = trees;
  VICINITY_CHECK_CODE(SampleLists(reader, {0}, {0}, {1}, options, &out),
                      absl::StatusCode::kInvalidArgument);
}

// More of them than are searched for one by one, and doubles.
TEST_CASE("many excluded edges of one target are all left out", "[shortened_lists]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 300;
  options.num_edges = 60'000;
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, dir.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("graph")));
  const auto num_excluded = static_cast<size_t>(GENERATE(5, 31, 32, 100));
  std::vector<ExcludedEdge> excluded;
  std::vector<int64_t> left;
  for (const InEdge& edge : graph.InEdges({0}, 4)) {
    if (excluded.size() < num_excluded && edge.source % 2 == 0) {
      excluded.push_back({0, edge.source});
    }
  }
  for (const InEdge& edge : graph.InEdges({0}, 4)) {
    const bool is_out =
        std::find(excluded.begin(), excluded.end(), ExcludedEdge{0, edge.source}) != excluded.end();
    if (!is_out) left.push_back(edge.edge_id);
  }
  OneHopOptions all;
  all.fanout = kAllNeighbors;
  all.want_edge_ids = true;
  all.excluded = excluded;
  Neighbors out;
  VICINITY_REQUIRE_OK(SampleLists(ShardReader(*dataset->shard({0})), {0}, {0}, {4}, all, &out));
  CHECK(out.edge_ids == left);
  CHECK(out.counts == std::vector<uint32_t>{static_cast<uint32_t>(left.size())});
}

}  // namespace
}  // namespace vicinity

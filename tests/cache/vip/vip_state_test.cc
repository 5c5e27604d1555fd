#include "cache/vip/vip_state.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/vip/draw_chance.h"
#include "cache/vip/seed_chances.h"
#include "cache/vip/vip_graph.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::MemoryGraph;

class Fixture {
 public:
  explicit Fixture(const MemoryGraph& graph) : spec_(SamplingSpec::Uniform(graph.schema, {3, 2})) {
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 7), folder_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(VipGraph made, VipGraph::Create(*dataset_, spec_, 2));
    graph_ = std::make_unique<VipGraph>(std::move(made));
  }
  const VipGraph& graph() const { return *graph_; }

 private:
  const testing::TempDir folder_;
  const SamplingSpec spec_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<VipGraph> graph_;
};

MemoryGraph SparseGraph() {
  testing::RandomGraphOptions shape;
  shape.num_nodes = 300;
  shape.num_edges = 0;
  MemoryGraph graph = testing::RandomGraph(shape);
  for (int64_t node = 0; node < shape.num_nodes; ++node) {  // degrees 0 .. 5
    for (int64_t edge = 0; edge < node % 6; ++edge) {
      graph.edges[0].sources.push_back((node + 1 + edge * edge) % shape.num_nodes);
      graph.edges[0].targets.push_back(node);
    }
  }
  return graph;
}

TEST_CASE("a node's chance to draw an edge is its fanout over its degree", "[vip_state]") {
  const Fixture fixture(SparseGraph());
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipState state, MakeVipState(fixture.graph(), {0}, 4));
  CHECK_FALSE(fixture.graph().is_bundled({0}));
  int64_t node = 0;
  for (const auto& shard : fixture.graph().dataset().shards()) {
    const EdgeTable& edges = shard->edges({0});
    for (int64_t row = 0; row + 1 < static_cast<int64_t>(edges.offsets.size()); ++row, ++node) {
      for (const auto& [hop, fanout] : {std::pair{1, 3.0}, std::pair{2, 2.0}}) {
        const double degree = static_cast<double>(edges.degree(row));
        const double expected = degree == 0 ? 0 : std::min(1.0, fanout / degree);
        CHECK(state.records.chance(node, 0, hop) == Approx(expected));
      }
    }
  }
  CHECK(node == 300);
}

TEST_CASE("where edges are looked at in bundles, the rate is kept instead", "[vip_state]") {
  MemoryGraph graph = SparseGraph();
  for (int64_t node = 0; node < 300; ++node) {  // every edge of degree 5 again
    for (int64_t edge = 0; edge < 5 && node % 6 == 5; ++edge) {
      graph.edges[0].sources.push_back((node + 1 + edge * edge) % 300);
      graph.edges[0].targets.push_back(node);
    }
  }
  const Fixture fixture(graph);
  REQUIRE(fixture.graph().is_bundled({0}));
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipState state, MakeVipState(fixture.graph(), {0}, 4));
  const auto& shard = fixture.graph().dataset().shards()[0];
  const EdgeTable& edges = shard->edges({0});
  for (int64_t row = 0; row < 50; ++row) {
    const double rate = DrawRate({3, false, false}, edges.degree(row));
    CHECK(state.records.chance(row, 0, 1) == Approx(rate));
  }
}

TEST_CASE("seeds have their chance, mark and bit in their lane alone", "[vip_state]") {
  const Fixture fixture(SparseGraph());
  VICINITY_ASSERT_OK_AND_ASSIGN(VipState state, MakeVipState(fixture.graph(), {0}, 4));
  SetSeeds({{0}, 0, {5, 64, 299}, {0.5, 0.25, 1}}, 300, 1, &state);
  SetSeeds({{0}, 0, {64}, {0.125}}, 300, 3, &state);
  for (int64_t node = 0; node < 300; ++node) {
    const bool is_seed = node == 5 || node == 64 || node == 299;
    CHECK((state.records.seed_mark(node) != 0) == is_seed);
    CHECK(((state.is_seed[node / 64] >> node % 64 & 1) != 0) == is_seed);
    CHECK(state.records.met(node, 0)[0] == 0);
    CHECK(state.records.met(node, 0)[1] == (node == 5     ? 0.5F
                                            : node == 64  ? 0.25F
                                            : node == 299 ? 1.0F
                                                          : 0.0F));
    CHECK(state.records.met(node, 0)[2] == 0);
    CHECK(state.records.met(node, 0)[3] == (node == 64 ? 0.125F : 0.0F));
  }
}

TEST_CASE("nodes that are not listed have the chance of the others", "[vip_state]") {
  const Fixture fixture(SparseGraph());
  VICINITY_ASSERT_OK_AND_ASSIGN(VipState state, MakeVipState(fixture.graph(), {0}, 4));
  SetSeeds({{0}, 0.25, {7}, {0.75}}, 300, 0, &state);
  for (int64_t node = 0; node < 300; ++node) {
    CHECK(state.records.met(node, 0)[0] == (node == 7 ? 0.75F : 0.25F));
  }
}

TEST_CASE("sums are kept only where messages arrive that no reverse tells", "[vip_state]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipState directed,
                                MakeVipState(Fixture(SparseGraph()).graph(), {0}, 8));
  CHECK(directed.met.size() == 300 * 8);
  MemoryGraph graph = SparseGraph();
  const testing::MemoryEdges once = graph.edges[0];
  for (size_t i = 0; i < once.sources.size(); ++i) {
    graph.edges[0].sources.push_back(once.targets[i]);
    graph.edges[0].targets.push_back(once.sources[i]);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipState undirected,
                                MakeVipState(Fixture(graph).graph(), {0}, 8));
  CHECK(undirected.met.empty());
}

TEST_CASE("so many homes lie side by side", "[vip_state]") {
  CHECK(LanesFor(1) == 4);
  CHECK(LanesFor(4) == 4);
  CHECK(LanesFor(5) == 8);
  CHECK(LanesFor(100) == 8);
}

}  // namespace
}  // namespace vicinity

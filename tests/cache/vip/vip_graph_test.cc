#include "cache/vip/vip_graph.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "cache/vip/draw_chance.h"
#include "cache/vip/edge_filter.h"
#include "cache/vip/edge_weights.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::MemoryGraph;

// A circle of 2,000 nodes, with some edges twice.
MemoryGraph Circle(int64_t num_doubles) {
  testing::RandomGraphOptions shape;
  shape.num_nodes = 2000;
  shape.num_edges = 0;
  MemoryGraph graph = testing::RandomGraph(shape);
  for (int64_t node = 0; node < 2000; ++node) {
    for (int64_t copy = 0; copy <= (node < num_doubles ? 1 : 0); ++copy) {
      graph.edges[0].sources.push_back(node);
      graph.edges[0].targets.push_back((node + 1) % 2000);
    }
  }
  return graph;
}

class Fixture {
 public:
  explicit Fixture(const MemoryGraph& graph) : spec(SamplingSpec::Uniform(graph.schema, {3, 2})) {
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 7), folder_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("graph")));
  }
  VipGraph Graph() const {
    VICINITY_ASSERT_OK_AND_ASSIGN(VipGraph graph, VipGraph::Create(*dataset_, spec, 2));
    return graph;
  }
  const Dataset& dataset() const { return *dataset_; }
  SamplingSpec spec;

 private:
  const testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
};

TEST_CASE("parallel edges are bundled where there are enough to tell", "[vip_graph]") {
  CHECK_FALSE(Fixture(Circle(0)).Graph().is_bundled({0}));
  CHECK_FALSE(Fixture(Circle(1)).Graph().is_bundled({0}));
  CHECK(Fixture(Circle(20)).Graph().is_bundled({0}));
}

TEST_CASE("edge types that join the same nodes are bundled, followed ones alone", "[vip_graph]") {
  MemoryGraph graph = Circle(0);
  graph.schema.edge_types.push_back({0, "more", 0, {}});
  graph.edges.push_back(graph.edges[0]);
  Fixture fixture(graph);
  CHECK(fixture.Graph().is_bundled({0}));
  CHECK(fixture.Graph().is_bundled({1}));
  CHECK(fixture.Graph().slot({1}) == 1);
  CHECK(fixture.Graph().num_slots({0}) == 2);
  for (std::vector<int64_t>& fanouts : fixture.spec.fanouts) fanouts[1] = 0;
  CHECK_FALSE(fixture.Graph().is_bundled({0}));
  CHECK(fixture.Graph().num_slots({0}) == 1);
}

TEST_CASE("every node is in one chunk, and edges are counted hop by hop", "[vip_graph]") {
  Fixture fixture(testing::TypedGraph(120, 60, 15, 21));
  fixture.spec.fanouts[0][1] = fixture.spec.fanouts[1][0] = 0;
  const VipGraph graph = fixture.Graph();
  for (int32_t type = 0; type < fixture.dataset().book().num_node_types(); ++type) {
    std::multiset<int64_t> nodes;
    Mutex mu;
    graph.ForEachChunk({type}, [&](const VipGraph::Chunk& chunk, int) {
      const MutexLock lock(&mu);
      for (int64_t row = chunk.begin; row < chunk.end; ++row) nodes.insert(chunk.base + row);
    });
    std::vector<int64_t> all(fixture.dataset().book().num_nodes(NodeTypeId{type}));
    std::iota(all.begin(), all.end(), int64_t{0});
    CHECK(std::vector<int64_t>(nodes.begin(), nodes.end()) == all);
  }
  int64_t in_all = 0, first = 0;
  for (const auto& shard : fixture.dataset().shards()) {
    first += shard->edges({1}).num_edges();
    for (int32_t type = 0; type < graph.num_edge_types(); ++type) {
      in_all += shard->edges({type}).num_edges();
    }
  }
  CHECK(graph.CountEdges() == 2 * in_all - first);
  CHECK(graph.IsFollowed({0}, 1));
  CHECK_FALSE(graph.IsFollowed({1}, 1));
  CHECK(graph.IsFollowed({1}, 2));
  CHECK(graph.RulesOf({0})[0].fanout == 3);
  CHECK(graph.RulesOf({0})[1].fanout == 0);
  CHECK_FALSE(graph.is_weighted({0}));
}

TEST_CASE("edges that are not there have no weight, and make all others' count", "[vip_graph]") {
  const Fixture fixture(Circle(0));
  const auto make = [&](const EdgeFilter& filter) {
    VICINITY_ASSERT_OK_AND_ASSIGN(VipGraph graph, VipGraph::Create(fixture.dataset(), fixture.spec,
                                                                   2, EdgeTypeId{-1}, filter));
    return graph;
  };
  const VipGraph some = make([](EdgeTypeId type, const Shard& shard) {
    std::vector<uint8_t> there(BaseLists(shard, type).num_edges());
    for (size_t i = 0; i < there.size(); ++i) there[i] = i % 3 == 0 ? 0 : 1;
    return there;
  });
  CHECK(some.is_weighted({0}));
  CHECK(some.is_bundled({0}));
  CHECK(some.RulesOf({0})[0].weighted);
  for (const auto& shard : fixture.dataset().shards()) {
    const EdgeWeights weights = some.WeightsOf({0}, *shard);
    for (int64_t i = 0; i < shard->edges({0}).num_edges(); ++i) {
      REQUIRE(weights[i] == (i % 3 == 0 ? 0 : 1));
    }
  }
  const VipGraph all = make([](EdgeTypeId type, const Shard& shard) {
    return std::vector<uint8_t>(BaseLists(shard, type).num_edges(), 1);
  });
  CHECK_FALSE(all.is_weighted({0}));
  CHECK_FALSE(all.is_bundled({0}));
  CHECK_FALSE(
      make([](EdgeTypeId, const Shard&) { return std::vector<uint8_t>(); }).is_weighted({0}));
}

}  // namespace
}  // namespace vicinity

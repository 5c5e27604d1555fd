#include "cache/vip/vip_gather.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cache/vip/bundled_messages.h"
#include "cache/vip/seed_chances.h"
#include "cache/vip/vip_graph.h"
#include "cache/vip/vip_state.h"
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

constexpr int64_t kNodes = 2000;
constexpr int kLanes = 4;
constexpr int kFanout = 3;

// Every edge has its reverse, none is a loop; with doubles, some are there twice each way.
MemoryGraph UndirectedGraph(bool doubles) {
  testing::RandomGraphOptions shape;
  shape.num_nodes = kNodes;
  shape.num_edges = 0;
  MemoryGraph graph = testing::RandomGraph(shape);
  const auto add = [&](int64_t a, int64_t b) {
    graph.edges[0].sources.insert(graph.edges[0].sources.end(), {a, b % kNodes});
    graph.edges[0].targets.insert(graph.edges[0].targets.end(), {b % kNodes, a});
  };
  for (int64_t node = 0; node < kNodes; ++node) {
    add(node, node + 1);
    add(node, node + 17);
    if (doubles && node % 2 == 0) add(node, node + 1);
  }
  return graph;
}

class Fixture {
 public:
  Fixture(const MemoryGraph& graph, int num_threads)
      : spec_(SamplingSpec::Uniform(graph.schema, {kFanout})), met_(kNodes * kLanes) {
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 7), folder_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(VipGraph made, VipGraph::Create(*dataset_, spec_, num_threads));
    graph_ = std::make_unique<VipGraph>(std::move(made));
    VICINITY_ASSERT_OK_AND_ASSIGN(VipState state, MakeVipState(*graph_, {0}, kLanes));
    for (int lane = 0; lane < kLanes; ++lane) {
      SeedChances seeds{{0}, 0, {}, {}};
      for (int64_t node = lane; node < kNodes; node += 3) {
        seeds.nodes.push_back(node);
        seeds.chances.push_back(ChanceOf(node, lane));
      }
      SetSeeds(seeds, kNodes, lane, &state);
    }
    states_.push_back(std::move(state));
  }

  // c_0.
  static double ChanceOf(int64_t node, int lane) {
    if (node < lane || (node - lane) % 3 != 0) return 0;
    return static_cast<double>(node % 7 + 1) / 8;
  }

  // c_1 of one node by the definition, without parallel edges: a node that is met draws each of its
  // d edges with the chance min(1, fanout / d), and in the first hop only seeds are met.
  double Expected(int64_t u, int lane) const {
    double not_met = 1 - ChanceOf(u, lane);
    for (const int64_t v : NeighborsOf(u)) {
      const double degree = static_cast<double>(NeighborsOf(v).size());
      not_met *= 1 - std::min(1.0, kFanout / degree) * ChanceOf(v, lane);
    }
    return 1 - not_met;
  }

  int64_t Run(const VipGather::Progress& progress) {
    return VipGather(*graph_, no_links_, &states_)
        .Run({0}, 1, {met_.data(), kLanes, kLanes}, progress);
  }
  const VipGraph& graph() const { return *graph_; }
  const std::vector<float>& met() const { return met_; }

 private:
  std::vector<int64_t> NeighborsOf(int64_t node) const {
    const Shard& shard = *dataset_->shards()[dataset_->book().OwnerOf({0}, {node}).value];
    const EdgeTable& edges = shard.edges({0});
    const int64_t row = node - dataset_->book().First({0}, shard.id()).value;
    std::vector<int64_t> neighbors;
    for (int64_t i = edges.begin(row); i < edges.begin(row + 1); ++i) {
      neighbors.push_back(edges.sources[i]);
    }
    return neighbors;
  }

  const testing::TempDir folder_;
  const SamplingSpec spec_;
  const LinkHelp no_links_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<VipGraph> graph_;
  std::vector<VipState> states_;
  std::vector<float> met_;
};

TEST_CASE("the first hop is the formula, node by node", "[vip_gather]") {
  Fixture fixture(UndirectedGraph(false), 2);
  int64_t last = 0;
  const int64_t done = fixture.Run([&](int64_t edges) { last = edges; });
  CHECK(done == fixture.graph().CountEdges());
  CHECK(last <= done);
  for (int64_t u = 0; u < kNodes; ++u) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const float met = fixture.met()[u * kLanes + lane];
      if (met != Approx(fixture.Expected(u, lane)).margin(1e-5)) {
        CHECK(met == fixture.Expected(u, lane));
      }
    }
  }
}

TEST_CASE("the number of threads makes no difference, with parallel edges neither",
          "[vip_gather]") {
  const bool doubles = GENERATE(false, true);
  const MemoryGraph graph = UndirectedGraph(doubles);
  Fixture one(graph, 1);
  REQUIRE(one.graph().is_bundled({0}) == doubles);
  one.Run([](int64_t) {});
  Fixture five(graph, 5);
  five.Run([](int64_t) {});
  CHECK(one.met() == five.met());
}

}  // namespace
}  // namespace vicinity

#include "cache/vip/vip_scatter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cache/vip/bundled_messages.h"
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

// No edge has its reverse; with doubles, one edge in four is there twice. Some are loops.
MemoryGraph DirectedGraph(bool doubles) {
  testing::RandomGraphOptions shape;
  shape.num_nodes = kNodes;
  shape.num_edges = 0;
  MemoryGraph graph = testing::RandomGraph(shape);
  const auto add = [&](int64_t source, int64_t target) {
    graph.edges[0].sources.push_back(source % kNodes);
    graph.edges[0].targets.push_back(target);
  };
  for (int64_t node = 0; node < kNodes; ++node) {
    add(node + 1, node);
    add(node + 17, node);
    if (node % 5 == 0) add(node, node);
    if (doubles && node % 2 == 0) add(node + 1, node);
  }
  return graph;
}

class Fixture {
 public:
  Fixture(const MemoryGraph& graph, int num_threads)
      : spec_(SamplingSpec::Uniform(graph.schema, {1})) {
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 7), folder_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(VipGraph made, VipGraph::Create(*dataset_, spec_, num_threads));
    graph_ = std::make_unique<VipGraph>(std::move(made));
    VICINITY_ASSERT_OK_AND_ASSIGN(VipState state, MakeVipState(*graph_, {0}, kLanes));
    for (int lane = 0; lane < kLanes; ++lane) {
      SeedChances seeds{{0}, 0, {}, {}};
      for (int64_t node = lane; node < kNodes; node += 3) {
        seeds.nodes.push_back(node);
        seeds.chances.push_back(ChanceOf(node));
      }
      SetSeeds(seeds, kNodes, lane, &state);
    }
    states_.push_back(std::move(state));
  }

  static float ChanceOf(int64_t node) { return static_cast<float>(node % 7 + 1) / 8; }

  // One hop of one fanout: by the definition, with each target's edges in hand.
  std::vector<double> Expected() const {
    std::vector<double> met(kNodes * kLanes);
    int64_t v = 0;
    for (const auto& shard : dataset_->shards()) {
      const EdgeTable& edges = shard->edges({0});
      for (int64_t row = 0; row < dataset_->book().num_nodes({0}, shard->id()); ++row, ++v) {
        std::vector<int64_t> list;
        for (int64_t i = edges.begin(row); i < edges.begin(row + 1); ++i) {
          list.push_back(edges.sources[i]);
        }
        std::vector<int64_t> neighbors = list;
        std::sort(neighbors.begin(), neighbors.end());
        neighbors.erase(std::unique(neighbors.begin(), neighbors.end()), neighbors.end());
        for (const int64_t u : neighbors) {
          if (u == v) continue;
          const double share = static_cast<double>(std::count(list.begin(), list.end(), u)) /
                               static_cast<double>(list.size());
          for (int lane = 0; lane < kLanes; ++lane) {
            const double message = v % 3 == lane % 3 && v >= lane ? share * ChanceOf(v) : 0;
            double& sum = met[u * kLanes + lane];
            sum = 1 - (1 - sum) * (1 - message);
          }
        }
      }
    }
    return met;
  }

  int64_t Run(const VipScatter::Progress& progress) {
    return VipScatter(*graph_, no_links_, &states_).Run({0}, {0}, 1, progress);
  }
  const VipGraph& graph() const { return *graph_; }
  const std::vector<double>& met() const { return states_[0].met; }

 private:
  const testing::TempDir folder_;
  const SamplingSpec spec_;
  const LinkHelp no_links_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<VipGraph> graph_;
  std::vector<VipState> states_;
};

TEST_CASE("every source gets the messages of all its targets, whatever the number of threads",
          "[vip_scatter]") {
  for (const bool doubles : {false, true}) {
    std::vector<double> of_one_thread;
    for (const int num_threads : {1, 2, 5}) {
      CAPTURE(doubles, num_threads);
      Fixture fixture(DirectedGraph(doubles), num_threads);
      REQUIRE(fixture.graph().is_bundled({0}) == doubles);
      int64_t last = 0;
      const int64_t done = fixture.Run([&](int64_t edges) {
        CHECK(edges >= last);
        last = edges;
      });
      CHECK(done == fixture.graph().CountEdges());
      CHECK(last == done);
      const std::vector<double> expected = fixture.Expected();
      REQUIRE(fixture.met().size() == expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        if (fixture.met()[i] != Approx(expected[i]).margin(1e-6))
          CHECK(fixture.met()[i] == expected[i]);
      }
      if (num_threads == 1) of_one_thread = fixture.met();
      CHECK(fixture.met() == of_one_thread);
    }
  }
}

TEST_CASE("edges with a reverse are left to those who gather", "[vip_scatter]") {
  MemoryGraph graph = DirectedGraph(false);
  const testing::MemoryEdges once = graph.edges[0];
  for (size_t i = 0; i < once.sources.size(); ++i) {
    if (once.sources[i] == once.targets[i]) continue;
    graph.edges[0].sources.push_back(once.targets[i]);
    graph.edges[0].targets.push_back(once.sources[i]);
  }
  Fixture fixture(graph, 2);
  CHECK(fixture.Run([](int64_t) { FAIL("nothing is done"); }) == 0);
  CHECK(fixture.met().empty());
}

}  // namespace
}  // namespace vicinity

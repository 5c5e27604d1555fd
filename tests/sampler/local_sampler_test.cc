#include "sampler/local_sampler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "partition/ingest/generate_rmat.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/common/random.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/rules/draw_spec.h"
#include "sampler/rules/source_numbers.h"
#include "sampler/sampled_graph.h"
#include "tests/sampler/sampled_graphs.h"
#include "tests/sampler/stored_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::DescribeInKeys;
using testing::InEdge;
using testing::MemoryGraph;
using testing::Stored;

std::vector<int64_t> RandomPositions(int64_t num_nodes, int64_t count, uint64_t seed) {
  NodeDraws draws(seed, 0);
  std::vector<int64_t> positions(count);
  for (int64_t& position : positions) position = static_cast<int64_t>(draws.Below(num_nodes));
  return positions;
}

// Fanouts of every kind, for every edge type of a graph.
std::vector<SamplingSpec> Specs(const Schema& schema) {
  std::vector<SamplingSpec> specs;
  for (const Expansion expansion : {Expansion::kAllNodes, Expansion::kNewNodes}) {
    for (const bool replace : {false, true}) {
      for (const std::vector<int64_t>& fanouts :
           std::vector<std::vector<int64_t>>{{3, 2, 2}, {4}, {2, kAllNeighbors}, {50, 1}}) {
        SamplingSpec spec = SamplingSpec::Uniform(schema, fanouts);
        spec.expansion = expansion;
        spec.replace = replace;
        specs.push_back(spec);
        if (schema.edge_types.size() == 1) continue;
        // Not every edge type in every hop.
        for (size_t hop = 0; hop < spec.fanouts.size(); ++hop) {
          spec.fanouts[hop][hop % spec.fanouts[hop].size()] = 0;
        }
        specs.push_back(spec);
      }
    }
  }
  return specs;
}

TEST_CASE("minibatches are the same in user keys for 1, 2, 4 and 8 shards", "[local_sampler]") {
  const bool typed = GENERATE(false, true);
  testing::RandomGraphOptions options;
  options.num_nodes = 300;
  options.num_edges = 4000;
  const MemoryGraph graph =
      typed ? testing::TypedGraph(200, 80, 20, 3) : testing::RandomGraph(options);
  const testing::TempDir dir;
  const Stored whole(graph, InUserOrder(graph), dir.File("1"));
  std::vector<std::unique_ptr<Stored>> cuts;
  for (const int32_t shards : {1, 2, 4, 8}) {
    cuts.push_back(std::make_unique<Stored>(graph, Shuffled(graph, shards, 40 + shards),
                                            dir.File(absl::StrCat("cut", shards))));
  }
  uint64_t batch = 0;
  for (const SamplingSpec& spec : Specs(graph.schema)) {
    for (int32_t type = 0; type < static_cast<int32_t>(graph.nodes.size()); ++type) {
      const MinibatchDraw draw{9, batch % 3, batch};
      const std::vector<int64_t> seeds = RandomPositions(graph.num_nodes({type}), 20, ++batch);
      VICINITY_ASSERT_OK_AND_ASSIGN(
          const SampledGraph expected,
          SampleLocal(whole.dataset(), {type}, whole.Ids(type, seeds), spec, draw, true));
      const std::string text = DescribeInKeys(whole.dataset(), expected);
      for (const std::unique_ptr<Stored>& cut : cuts) {
        VICINITY_ASSERT_OK_AND_ASSIGN(
            const SampledGraph found,
            SampleLocal(cut->dataset(), {type}, cut->Ids(type, seeds), spec, draw, true));
        REQUIRE(DescribeInKeys(cut->dataset(), found) == text);
      }
    }
  }
}

// What a minibatch must be, whichever neighbours were drawn.
void CheckAgainst(const MemoryGraph& graph, const Stored& stored, const SamplingSpec& spec,
                  const SampledGraph& found) {
  std::vector<std::vector<std::vector<InEdge>>> in_edges;
  for (size_t type = 0; type < graph.edges.size(); ++type) {
    in_edges.push_back(graph.InEdgesOfAll({static_cast<int32_t>(type)}));
  }
  for (size_t hop = 0; hop < found.hops.size(); ++hop) {
    for (const Block& block : found.hops[hop]) {
      const EdgeTypeSpec& type = graph.schema.edge_types[block.edge_type];
      const int64_t fanout = spec.fanouts[hop][block.edge_type];
      const std::vector<int64_t>& targets = found.nodes[type.target_type].ids;
      REQUIRE(block.first_target + block.num_targets() ==
              found.nodes[type.target_type].hop_ends[hop]);
      for (int64_t i = 0; i < block.num_targets(); ++i) {
        const int64_t target = stored.PositionOf(type.target_type, targets[block.first_target + i]);
        const auto& list = in_edges[block.edge_type][target];
        const int64_t degree = static_cast<int64_t>(list.size());
        const int64_t count = block.offsets[i + 1] - block.offsets[i];
        const bool all = fanout == kAllNeighbors;
        REQUIRE(count == (all            ? degree
                          : degree == 0  ? 0
                          : spec.replace ? fanout
                                         : std::min(fanout, degree)));
        std::set<int64_t> distinct;
        for (int64_t e = block.offsets[i]; e < block.offsets[i + 1]; ++e) {
          const int64_t edge = block.edge_ids[e];
          distinct.insert(edge);
          const int64_t source = found.nodes[type.source_type].ids[block.sources[e]];
          REQUIRE(graph.edges[block.edge_type].targets[edge] == target);
          REQUIRE(graph.edges[block.edge_type].sources[edge] ==
                  stored.PositionOf(type.source_type, source));
        }
        if (!spec.replace || all) REQUIRE(static_cast<int64_t>(distinct.size()) == count);
      }
    }
  }
}

TEST_CASE("every sampled edge is an edge of the graph, in the right number", "[local_sampler]") {
  const MemoryGraph graph = testing::TypedGraph(150, 60, 10, 8);
  const testing::TempDir dir;
  const Stored stored(graph, Shuffled(graph, 3, 5), dir.File("graph"));
  uint64_t batch = 0;
  for (const SamplingSpec& spec : Specs(graph.schema)) {
    const std::vector<int64_t> seeds = RandomPositions(graph.num_nodes({0}), 25, ++batch);
    const std::vector<int64_t> ids = stored.Ids(0, seeds);
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph found, SampleLocal(stored.dataset(), {0}, ids,
                                                                        spec, {1, 0, batch}, true));
    REQUIRE(found.seeds[0].positions.size() == ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      REQUIRE(found.nodes[0].ids[found.seeds[0].positions[i]] == ids[i]);
    }
    CheckAgainst(graph, stored, spec, found);
  }
}

TEST_CASE("eight threads on one dataset draw what one draws", "[local_sampler]") {
  testing::RandomGraphOptions options;
  options.num_edges = 1500;
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  const Stored stored(graph, Shuffled(graph, 2, 5), dir.File("graph"));
  SamplingSpec spec = SamplingSpec::Uniform(graph.schema, {5, 3, 2});
  spec.draws = GENERATE(Draws::kIndependent, Draws::kLabor);
  spec.batch_dependency = spec.draws == Draws::kLabor ? 3 : 1;
  constexpr int kBatches = 32;
  const auto sample = [&](int batch) -> std::string {
    const std::vector<int64_t> seeds = RandomPositions(options.num_nodes, 10, batch);
    const absl::StatusOr<SampledGraph> graph =
        SampleLocal(stored.dataset(), {0}, seeds, spec, {4, 0, static_cast<uint64_t>(batch)});
    return graph.ok() ? testing::Describe(*graph) : graph.status().ToString();
  };
  std::vector<std::string> expected(kBatches), found(kBatches);
  for (int batch = 0; batch < kBatches; ++batch) expected[batch] = sample(batch);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int batch = i; batch < kBatches; batch += 8) found[batch] = sample(batch);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(found == expected);
}

TEST_CASE("another run, epoch or batch draws another minibatch", "[local_sampler]") {
  testing::RandomGraphOptions options;
  options.num_edges = 3000;
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  const Stored stored(graph, InUserOrder(graph), dir.File("graph"));
  const SamplingSpec spec = SamplingSpec::Uniform(graph.schema, {5, 5});
  const auto sample = [&](const MinibatchDraw& draw) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph graph,
                                  SampleLocal(stored.dataset(), {0}, {1, 2, 3}, spec, draw));
    return testing::Describe(graph);
  };
  const std::string text = sample({1, 1, 1});
  CHECK(sample({1, 1, 1}) == text);
  CHECK(sample({2, 1, 1}) != text);
  CHECK(sample({1, 2, 1}) != text);
  CHECK(sample({1, 1, 2}) != text);
}

// Of a target's list those that the layer's numbers choose, as edge ids, in the list's order.
std::vector<int64_t> ChosenByLayer(const Stored& stored, const MemoryGraph& graph,
                                   EdgeTypeId edge_type, const std::vector<InEdge>& list,
                                   int64_t fanout, uint64_t stream) {
  const int32_t source_type = graph.schema.edge_types[edge_type.value].source_type;
  const SourceNumbers numbers(stream);
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < list.size(); ++i) {
    size_t first = i;
    while (first > 0 && list[first - 1].source == list[i].source) --first;
    const int64_t id = stored.Ids(source_type, {list[i].source})[0];
    order.emplace_back(numbers.Of(static_cast<uint64_t>(id), i - first), i);
  }
  std::sort(order.begin(), order.end());
  if (fanout != kAllNeighbors && order.size() > static_cast<size_t>(fanout)) order.resize(fanout);
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<int64_t> edge_ids;
  for (const auto& [number, at] : order) edge_ids.push_back(list[at].edge_id);
  return edge_ids;
}

TEST_CASE("by LABOR every target draws the edges of the smallest numbers", "[local_sampler]") {
  const MemoryGraph graph = testing::TypedGraph(150, 60, 10, 8);
  const testing::TempDir dir;
  const Stored stored(graph, Shuffled(graph, 3, 5), dir.File("graph"));
  std::vector<std::vector<std::vector<InEdge>>> lists;
  for (size_t type = 0; type < graph.edges.size(); ++type) {
    lists.push_back(graph.InEdgesOfAll({static_cast<int32_t>(type)}));
  }
  const bool layer_dependency = GENERATE(false, true);
  const int64_t batch_dependency = GENERATE(1, 3);
  int64_t num_chosen = 0;
  for (SamplingSpec spec : Specs(graph.schema)) {
    spec.replace = false;
    spec.draws = Draws::kLabor;
    spec.disjoint = num_chosen % 2 == 1;
    spec.layer_dependency = layer_dependency;
    spec.batch_dependency = batch_dependency;
    const MinibatchDraw draw{4, 1, 5};
    const std::vector<int64_t> seeds =
        stored.Ids(0, RandomPositions(graph.num_nodes({0}), 25, spec.fanouts.size()));
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph found,
                                  SampleLocal(stored.dataset(), {0}, seeds, spec, draw, true));
    for (size_t hop = 0; hop < found.hops.size(); ++hop) {
      for (const Block& block : found.hops[hop]) {
        const EdgeTypeSpec& type = graph.schema.edge_types[block.edge_type];
        DrawSpec layer;
        layer.layer_dependency = layer_dependency;
        layer.batch_dependency = static_cast<uint64_t>(batch_dependency);
        const uint64_t stream = LayerStream(draw, static_cast<int>(hop), {type.source_type}, layer);
        for (int64_t i = 0; i < block.num_targets(); ++i) {
          const int64_t target = stored.PositionOf(
              type.target_type, found.nodes[type.target_type].ids[block.first_target + i]);
          const std::vector<InEdge>& list = lists[block.edge_type][target];
          const int64_t fanout = spec.fanouts[hop][block.edge_type];
          const std::vector<int64_t> drawn(block.edge_ids.begin() + block.offsets[i],
                                           block.edge_ids.begin() + block.offsets[i + 1]);
          REQUIRE(drawn == ChosenByLayer(stored, graph, {block.edge_type}, list, fanout, stream));
          num_chosen += list.size() > drawn.size() ? 1 : 0;
        }
      }
    }
  }
  CHECK(num_chosen > 1000);
}

TEST_CASE(
    "by LABOR minibatches of a skewed graph have fewer nodes, and fewer still where hops "
    "choose alike",
    "[local_sampler]") {
  RmatOptions options;
  options.scale = 11;
  options.edges_per_node = 60;
  options.symmetric = true;
  options.dedup = true;
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(GenerateRmat(options, dir.File("rmat"), NoProgress()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("rmat")));
  const auto nodes_and_edges = [&](const SamplingSpec& spec, int64_t batches) {
    std::set<int64_t> nodes;
    int64_t edges = 0;
    int64_t each = 0;
    for (int64_t batch = 0; batch < batches; ++batch) {
      const std::vector<int64_t> seeds = RandomPositions(1 << options.scale, 256, batch);
      const MinibatchDraw draw{1, 2, static_cast<uint64_t>(batch)};
      VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph graph,
                                    SampleLocal(*dataset, {0}, seeds, spec, draw));
      nodes.insert(graph.nodes[0].ids.begin(), graph.nodes[0].ids.end());
      each += static_cast<int64_t>(graph.nodes[0].ids.size());
      edges += graph.num_edges();
    }
    return std::vector<int64_t>{each, edges, static_cast<int64_t>(nodes.size())};
  };
  SamplingSpec spec = SamplingSpec::Uniform(dataset->schema(), {10});
  const std::vector<int64_t> independent = nodes_and_edges(spec, 4);
  spec.draws = Draws::kLabor;
  const std::vector<int64_t> labor = nodes_and_edges(spec, 4);
  CHECK(labor[1] == independent[1]);  // of seeds as many edges
  CHECK(labor[0] * 10 < independent[0] * 9);
  // Four batches that choose alike have fewer nodes together.
  spec.batch_dependency = 4;
  const std::vector<int64_t> alike = nodes_and_edges(spec, 4);
  CHECK(alike[2] * 20 < labor[2] * 19);
  spec = SamplingSpec::Uniform(dataset->schema(), {10, 10});
  spec.draws = Draws::kLabor;
  const std::vector<int64_t> two_hops = nodes_and_edges(spec, 4);
  spec.layer_dependency = true;
  CHECK(nodes_and_edges(spec, 4)[0] < two_hops[0]);
}

TEST_CASE("a shard that is not mapped is named, not skipped", "[local_sampler]") {
  const MemoryGraph graph = testing::RandomGraph({});
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 2, 5), dir.File("graph")));
  Dataset::Options options;
  options.shards = {ShardId{0}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> half,
                                Dataset::Open(dir.File("graph"), options));
  const SamplingSpec spec = SamplingSpec::Uniform(graph.schema, {2});
  VICINITY_CHECK_OK(SampleLocal(*half, {0}, {0}, spec, {}));
  VICINITY_CHECK_CODE(SampleLocal(*half, {0}, {0, 99}, spec, {}),
                      absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(SampleLocal(*half, {0}, {100}, spec, {}), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

#include "sampler/local_sampler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/random.h"
#include "sampler/minibatch_sampler.h"
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
  const SamplingSpec spec = SamplingSpec::Uniform(graph.schema, {5, 3, 2});
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

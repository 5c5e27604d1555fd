// The same batches, byte for byte in user ids, however a graph is cut and served and whatever reads
// it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "client/graph.h"
#include "client/loader.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/ranking.h"
#include "sampler/local_sampler.h"
#include "sampler/proximity/ppr_spec.h"
#include "sampler/proximity/visit_counts.h"
#include "sampler/walk_sampler.h"
#include "sampler/walk_spec.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/sampler/sampled_graphs.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::DescribeInKeys;
using testing::MemoryGraph;
using testing::SmallCluster;

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

MemoryGraph Homogeneous() {
  testing::RandomGraphOptions options;
  options.num_nodes = 500;
  options.num_edges = 4000;
  options.weights = true;
  options.seed = 3;
  return testing::RandomGraph(options);
}

MemoryGraph Typed() { return testing::TypedGraph(400, 300, 50, 4); }

std::vector<SamplingSpec> Specs(const Schema& schema) {
  std::vector<SamplingSpec> specs;
  for (const std::vector<int64_t>& fanouts :
       {std::vector<int64_t>{5, 3, 2}, std::vector<int64_t>{4, kAllNeighbors}}) {
    for (const Expansion expansion : {Expansion::kAllNodes, Expansion::kNewNodes}) {
      for (int kind = 0; kind < 8; ++kind) {
        SamplingSpec spec = SamplingSpec::Uniform(schema, fanouts);
        spec.expansion = expansion;
        spec.replace = (kind & 1) != 0;
        if ((kind & 2) != 0) spec.weighted_by = "weight";
        spec.disjoint = (kind & 4) != 0;
        specs.push_back(spec);
        if (expansion == Expansion::kNewNodes || spec.replace) continue;
        spec.subgraph = Subgraph::kInduced;
        specs.push_back(spec);
      }
    }
  }
  return specs;
}

// Every way to open one cut.
std::vector<GraphOptions> WaysToOpen(const SmallCluster& cluster) {
  std::vector<GraphOptions> ways(4);
  ways[0].directory = cluster.directory();
  for (int i = 1; i < 4; ++i) ways[i].cluster_file = cluster.cluster_file();
  ways[2].local_shards = {0};
  for (int32_t s = 0; s < cluster.dataset().book().num_shards(); ++s) {
    ways[3].local_shards.push_back(s);
  }
  ways[1].channels_per_server = 1;
  return ways;
}

TEST_CASE("a minibatch is the same for any cut, local, remote or mixed", "[determinism]") {
  const MemoryGraph memory = GENERATE(Homogeneous(), Typed());
  const SmallCluster whole(memory, 1, 1);
  const NodeTypeId seed_type{0};
  const std::vector<int64_t> positions = {3, 77, 3, 250, 11, 12, 13, 399};
  const auto seeds_in = [&](const SmallCluster& cluster) {
    const std::vector<int64_t> ids = cluster.GlobalIds(seed_type);
    std::vector<int64_t> seeds;
    for (const int64_t position : positions) seeds.push_back(ids[position]);
    return seeds;
  };
  const std::vector<SamplingSpec> specs = Specs(memory.schema);
  const DrawId draw{9, 2, 31};
  std::vector<std::string> expected;
  for (const SamplingSpec& spec : specs) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph sampled,
                                  SampleLocal(whole.dataset(), seed_type, seeds_in(whole), spec,
                                              {draw.run_seed, draw.epoch, draw.batch}, true));
    expected.push_back(DescribeInKeys(whole.dataset(), sampled));
  }
  for (const int32_t num_shards : {1, 2, 4, 8}) {
    const SmallCluster cluster(memory, num_shards, num_shards > 2 ? 3 : num_shards);
    for (const GraphOptions& way : WaysToOpen(cluster)) {
      const std::unique_ptr<Graph> graph = Value(Graph::Open(way));
      for (size_t i = 0; i < specs.size(); ++i) {
        const SampledGraph sampled =
            Value(graph->Sample(seed_type.value, seeds_in(cluster), specs[i], draw, true));
        REQUIRE(DescribeInKeys(cluster.dataset(), sampled) == expected[i]);
      }
    }
  }
}

// In user ids, so that walks on two cuts compare.
std::vector<int64_t> InUserIds(const Graph& graph, const WalkSpec& spec, Walks walks) {
  for (int64_t step = 0; step <= walks.length; ++step) {
    std::vector<size_t> places;
    std::vector<int64_t> nodes;
    for (size_t i = step; i < walks.nodes.size(); i += walks.length + 1) {
      if (walks.nodes[i] < 0) continue;
      places.push_back(i);
      nodes.push_back(walks.nodes[i]);
    }
    const int32_t type = NodeTypeOfWalk(graph.schema(), spec, step);
    if (graph.schema().node_types[type].id_kind == IdKind::kString) {
      const std::vector<std::string> names = Value(graph.UserNames(type, nodes));
      for (size_t i = 0; i < places.size(); ++i) {
        walks.nodes[places[i]] = static_cast<int64_t>(std::hash<std::string>()(names[i]) >> 1);
      }
      continue;
    }
    const std::vector<int64_t> ids = Value(graph.UserIds(type, nodes));
    for (size_t i = 0; i < places.size(); ++i) walks.nodes[places[i]] = ids[i];
  }
  return walks.nodes;
}

TEST_CASE("walks are the same for any cut, local, remote or mixed", "[determinism]") {
  const bool typed = GENERATE(false, true);
  const MemoryGraph memory = typed ? Typed() : Homogeneous();
  std::vector<WalkSpec> specs(3);
  for (WalkSpec& spec : specs) {
    spec.metapath = typed ? std::vector<int32_t>{1, 0} : std::vector<int32_t>{0};
    spec.length = 7;
  }
  specs[1].weighted_by = "weight";
  specs[1].restart_prob = 0.1;
  if (!typed) {
    specs[2].p = 0.25;
    specs[2].q = 4;
  }
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < 900; ++i) positions.push_back(i * 7 % 400);
  // Step by step, by one process alone; of node2vec what the first graph says.
  std::vector<std::vector<int64_t>> expected(specs.size());
  std::vector<std::vector<int64_t>> expected_edges(specs.size());
  {
    const SmallCluster whole(memory, 1, 1);
    const std::unique_ptr<Graph> graph = Value(Graph::Open(WaysToOpen(whole)[0]));
    std::vector<int64_t> starts;
    for (const int64_t position : positions) {
      starts.push_back(whole.GlobalIds(NodeTypeId{0})[position]);
    }
    for (size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].p != 1) continue;
      LocalNeighborSource source(whole.dataset(), {9, 2, 31});
      WalkSampler sampler(memory.schema, whole.dataset().book(), {9, 2, 31}, &source, nullptr);
      VICINITY_ASSERT_OK_AND_ASSIGN(const Walks walks, sampler.Walk(specs[i], starts, true));
      expected[i] = InUserIds(*graph, specs[i], walks);
      expected_edges[i] = walks.edge_ids;
    }
  }
  for (const int32_t num_shards : {1, 2, 4, 8}) {
    const SmallCluster cluster(memory, num_shards, num_shards > 2 ? 3 : num_shards);
    std::vector<int64_t> starts;
    for (const int64_t position : positions) {
      starts.push_back(cluster.GlobalIds(NodeTypeId{0})[position]);
    }
    for (const GraphOptions& way : WaysToOpen(cluster)) {
      const std::unique_ptr<Graph> graph = Value(Graph::Open(way));
      for (size_t i = 0; i < specs.size(); ++i) {
        const Walks walks = Value(graph->Walk(starts, specs[i], {9, 2, 31}, true));
        const std::vector<int64_t> found = InUserIds(*graph, specs[i], walks);
        if (expected[i].empty()) {
          expected[i] = found;
          expected_edges[i] = walks.edge_ids;
        }
        REQUIRE(found == expected[i]);
        REQUIRE(walks.edge_ids == expected_edges[i]);
      }
    }
  }
}

// Of nodes of type 0; -1 stays.
std::vector<int64_t> UserIdsOrNone(const Graph& graph, const std::vector<int64_t>& nodes) {
  std::vector<int64_t> ids;
  for (const int64_t node : nodes) ids.push_back(std::max<int64_t>(node, 0));
  ids = Value(graph.UserIds(0, ids));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (nodes[i] < 0) ids[i] = -1;
  }
  return ids;
}

TEST_CASE("the most visited nodes are the same for any cut, local, remote or mixed",
          "[determinism]") {
  const bool typed = GENERATE(false, true);
  const MemoryGraph memory = typed ? Typed() : Homogeneous();
  VisitSpec spec;
  spec.walk.metapath = typed ? std::vector<int32_t>{1, 0} : std::vector<int32_t>{0};
  spec.walk.length = 6;
  spec.num_walks = 8;
  spec.top = 10;  // many of them visited as often as others
  std::vector<int64_t> expected;
  std::vector<int64_t> expected_counts;
  for (const int32_t num_shards : {1, 2, 4, 8}) {
    const SmallCluster cluster(memory, num_shards, num_shards > 2 ? 3 : num_shards);
    std::vector<int64_t> starts = cluster.GlobalIds(NodeTypeId{0});
    starts.resize(200);
    for (const GraphOptions& way : WaysToOpen(cluster)) {
      const std::unique_ptr<Graph> graph = Value(Graph::Open(way));
      const TopVisited visited = Value(graph->MostVisited(starts, spec, {9, 2, 31}));
      const std::vector<int64_t> ids = UserIdsOrNone(*graph, visited.nodes);
      if (expected.empty()) {
        expected = ids;
        expected_counts = visited.counts;
      }
      REQUIRE(ids == expected);
      REQUIRE(visited.counts == expected_counts);
    }
  }
}

TEST_CASE("personalised PageRank is the same for any cut, local, remote or mixed",
          "[determinism]") {
  const bool typed = GENERATE(false, true);
  const MemoryGraph memory = typed ? Typed() : Homogeneous();
  PprSpec spec;
  spec.eps = 1e-3;
  spec.top = 20;
  spec.max_neighbors = GENERATE(int64_t{4}, kAllNeighbors);
  spec.weighted_by = GENERATE("", "weight");
  std::vector<int64_t> expected;
  PprScores first;
  for (const int32_t num_shards : {1, 2, 4, 8}) {
    const SmallCluster cluster(memory, num_shards, num_shards > 2 ? 3 : num_shards);
    std::vector<int64_t> seeds = cluster.GlobalIds(NodeTypeId{0});
    seeds.resize(50);
    for (const GraphOptions& way : WaysToOpen(cluster)) {
      const std::unique_ptr<Graph> graph = Value(Graph::Open(way));
      const PprScores ranked = Value(graph->PersonalizedPageRank(0, seeds, spec, {9, 2, 31}));
      const std::vector<int64_t> ids = UserIdsOrNone(*graph, ranked.nodes);
      if (expected.empty()) {
        expected = ids;
        first = ranked;
      }
      REQUIRE(ids == expected);
      REQUIRE(ranked.scores == first.scores);
      REQUIRE(ranked.residuals == first.residuals);
    }
  }
}

TEST_CASE("minibatches drawn again, after a server was lost, are the same", "[determinism]") {
  const MemoryGraph memory = GENERATE(Homogeneous(), Typed());
  SmallCluster cluster(memory, 4, 2);
  GraphOptions options;
  options.cluster_file = cluster.cluster_file();
  const std::unique_ptr<Graph> graph = Value(Graph::Open(options));
  const std::vector<int64_t> ids = cluster.GlobalIds(NodeTypeId{0});
  const std::vector<int64_t> seeds(ids.begin(), ids.begin() + 40);
  const auto draw = [&](const SamplingSpec& spec) {
    return graph->Sample(0, seeds, spec, {1, 2, 3}, {true, true});
  };
  const std::vector<SamplingSpec> specs = Specs(memory.schema);
  std::vector<SampledGraph> before;
  for (const SamplingSpec& spec : specs) before.push_back(Value(draw(spec)));

  cluster.Stop(1);
  CHECK_FALSE(draw(specs[0]).ok());
  cluster.Restart(1);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!draw(specs[0]).ok() && std::chrono::steady_clock::now() < deadline) {
  }  // until it is connected again

  for (size_t i = 0; i < specs.size(); ++i) {
    const SampledGraph again = Value(draw(specs[i]));
    REQUIRE(DescribeInKeys(cluster.dataset(), again) ==
            DescribeInKeys(cluster.dataset(), before[i]));
    for (size_t hop = 0; hop < again.hops.size(); ++hop) {
      for (size_t b = 0; b < again.hops[hop].size(); ++b) {
        REQUIRE(again.hops[hop][b].edge_positions == before[i].hops[hop][b].edge_positions);
      }
    }
  }
}

// An epoch as text: blocks in keys, and every byte of rows and labels.
std::string Epoch(const SmallCluster& cluster, const Graph& graph, const LoaderOptions& options) {
  const std::unique_ptr<Loader> loader = Value(Loader::Create(&graph, options));
  const Error started = loader->StartEpoch(3);
  INFO(started.message());
  REQUIRE(started.ok());
  std::string text;
  while (const std::unique_ptr<MiniBatch> batch = Value(loader->Next())) {
    text += DescribeInKeys(cluster.dataset(), batch->graph);
    for (const BatchColumn& column : batch->columns) {
      text.append(column.bytes.begin(), column.bytes.end());
    }
    for (const EdgeRows& column : batch->edge_columns) {
      text.append(column.bytes.begin(), column.bytes.end());
    }
    for (const int64_t label : batch->labels) text += " " + std::to_string(label);
  }
  const LoaderStats stats = loader->stats();
  CHECK(stats.cache_rows <= options.cache_rows * static_cast<int64_t>(options.columns.size()));
  return text;
}

// Ranks all nodes of every type by global id, for one home of all shards.
void Rank(const std::string& directory) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset, Dataset::Open(directory));
  proto::Ranking description;
  description.set_name("default");
  proto::Ranking::Home* home = description.add_homes();
  for (int32_t s = 0; s < dataset->book().num_shards(); ++s) home->add_shards(s);
  std::vector<RankedNodes> by_type(dataset->book().num_node_types());
  for (int32_t type = 0; type < dataset->book().num_node_types(); ++type) {
    const int64_t num_nodes = dataset->book().num_nodes({type});
    for (int64_t node = 0; node < num_nodes; ++node) {
      by_type[type].nodes.push_back(node);
      by_type[type].probabilities.push_back(1.0f - 0.5f * node / num_nodes);
    }
  }
  VICINITY_REQUIRE_OK(WriteRanking(directory, description, {by_type}));
}

TEST_CASE("an epoch is the same for any cut, threads and cache", "[determinism]") {
  const bool typed = GENERATE(false, true);
  const bool weighted_trees = GENERATE(false, true);
  const MemoryGraph memory = typed ? Typed() : Homogeneous();
  LoaderOptions options;
  options.seed_type = memory.schema.node_types[0].name;
  options.sampling = SamplingSpec::Uniform(memory.schema, {4, 3});
  if (weighted_trees) {
    options.sampling.weighted_by = "weight";
    options.sampling.disjoint = true;
    options.edge_columns = {{typed ? "buys" : "links", "weight"}};
  }
  options.batch_size = 13;
  options.run_seed = 5;
  options.edge_ids = true;
  options.columns = {{options.seed_type, "features"}};
  if (typed) options.columns.push_back({"item", "features"});

  const SmallCluster whole(memory, 1, 1);
  GraphOptions in_one;
  in_one.directory = whole.directory();
  const std::string expected = Epoch(whole, *Value(Graph::Open(in_one)), options);
  for (const int32_t num_shards : {1, 2, 4, 8}) {
    const SmallCluster cluster(memory, num_shards, num_shards > 2 ? 3 : num_shards, Rank);
    for (const GraphOptions& way : WaysToOpen(cluster)) {
      const std::unique_ptr<Graph> graph = Value(Graph::Open(way));
      for (const int threads : {1, 2, 8}) {
        LoaderOptions each = options;
        each.sample_threads = threads;
        each.fetch_threads = threads;
        each.cache = threads == 1 ? CachePolicy::kNone : CachePolicy::kVip;
        each.cache_rows = threads == 2 ? 40 : 100'000;
        REQUIRE(Epoch(cluster, *graph, each) == expected);
      }
    }
  }
}

// Every third item, by its name, backwards.
UserNames SomeItems(const MemoryGraph& memory) {
  UserNames items;
  for (size_t i = 0; i < memory.nodes[1].names.size(); i += 3) {
    items.ids.push_back(memory.nodes[1].names[i]);
  }
  std::reverse(items.ids.begin(), items.ids.end());
  return items;
}

TEST_CASE("an epoch of listed seeds is the same for any cut, local, served or mixed",
          "[determinism]") {
  const MemoryGraph memory = Typed();
  LoaderOptions options;
  options.sampling = SamplingSpec::Uniform(memory.schema, {4, 3});
  options.batch_size = 13;
  options.run_seed = 5;
  SECTION("by names") {
    options.seed_type = "item";
    options.seeds = SomeItems(memory);
  }
  SECTION("by a mask") {
    options.seed_type = "user";
    NodeMask mask;
    for (int64_t i = 0; i < memory.num_nodes({0}); ++i) mask.chosen.push_back(i % 7 < 2);
    options.seeds = mask;
  }
  SECTION("links") {
    LinkList links{"knows", UserIds(), UserIds()};
    const std::vector<uint64_t>& keys = memory.nodes[0].keys;
    for (size_t i = 0; i < 60; ++i) {
      std::get<UserIds>(links.sources).ids.push_back(static_cast<int64_t>(keys[i]));
      std::get<UserIds>(links.targets).ids.push_back(static_cast<int64_t>(keys[i * 5 + 7]));
    }
    options.seeds = links;
  }
  SECTION("induced, with columns of edges") {
    options.seed_type = "user";
    options.sampling.subgraph = Subgraph::kInduced;
    options.sampling.disjoint = GENERATE(false, true);
    options.edge_ids = true;
    options.edge_columns = {{"buys", "weight"}};
  }
  const SmallCluster whole(memory, 1, 1);
  GraphOptions in_one;
  in_one.directory = whole.directory();
  const std::string expected = Epoch(whole, *Value(Graph::Open(in_one)), options);
  CHECK_FALSE(expected.empty());
  for (const int32_t num_shards : {2, 4}) {
    const SmallCluster cluster(memory, num_shards, 2);
    for (const GraphOptions& way : WaysToOpen(cluster)) {
      const std::unique_ptr<Graph> graph = Value(Graph::Open(way));
      REQUIRE(Epoch(cluster, *graph, options) == expected);
    }
  }
}

}  // namespace
}  // namespace vicinity

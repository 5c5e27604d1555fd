#include "client/loading/batch_sampler.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/sampled_graph.h"
#include "tests/client/routed_graph.h"
#include "tests/sampler/sampled_graphs.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

TEST_CASE("a batch is that of its seeds and draw, wherever its shards are", "[batch_sampler]") {
  const RoutedGraph graph(testing::TypedGraph(200, 60, 10, 3), 4, {1, 3});
  const SamplingSpec sampling = SamplingSpec::Uniform(graph.router().schema(), {4, 2});
  const EdgeDetail detail(true, false);
  RoutedBatchSampler sampler(graph.router(), sampling, detail);
  const std::vector<int64_t> seeds = {5, 190, 5};
  for (const uint64_t batch : {0, 1, 0}) {
    const MinibatchDraw draw{7, 2, batch};
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph routed,
                                  sampler.Sample({{NodeTypeId{0}, seeds}}, draw, nullptr));
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const SampledGraph local,
        SampleLocal(graph.dataset(), NodeTypeId{0}, seeds, sampling, draw, detail));
    REQUIRE(routed.hops.size() == local.hops.size());
    for (size_t hop = 0; hop < local.hops.size(); ++hop) {
      REQUIRE(routed.hops[hop].size() == local.hops[hop].size());
      for (size_t b = 0; b < local.hops[hop].size(); ++b) {
        CHECK(routed.hops[hop][b].sources == local.hops[hop][b].sources);
        CHECK(routed.hops[hop][b].edge_ids == local.hops[hop][b].edge_ids);
      }
    }
    for (size_t type = 0; type < local.nodes.size(); ++type) {
      CHECK(routed.nodes[type].ids == local.nodes[type].ids);
    }
  }
}

// What is known of lists comes while batches are drawn, from a thread beside them.
TEST_CASE("batches along many edge types are the same when it is known which lists are empty",
          "[batch_sampler]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 400;
  options.num_edges = 1200;
  options.weights = true;
  options.times = true;
  testing::MemoryGraph many = testing::RandomGraph(options);
  testing::SplitEdges(30, &many);
  const RoutedGraph graph(std::move(many), 2, {1});
  SamplingSpec sampling = SamplingSpec::Uniform(graph.router().schema(), {3, 2});
  std::vector<int64_t> times;
  switch (GENERATE(0, 1, 2)) {
    case 1:
      sampling.weighted_by = "weight";
      break;
    case 2:
      sampling.disjoint = true;
      sampling.time_column = "time";
      times = {0, 2, -1, 3};
      break;
    default:
      break;
  }
  const EdgeDetail detail(true, true);
  RoutedBatchSampler routed(graph.router(), sampling, detail);
  MinibatchSampler local(graph.dataset().schema(), graph.dataset().book());
  for (uint64_t batch = 0; batch < 200; ++batch) {
    const MinibatchDraw draw{7, 2, batch};
    std::vector<TypedSeeds> seeds = {{NodeTypeId{0}, {5, 190, 333, 5}, times}};
    seeds[0].ids[0] = static_cast<int64_t>(batch);
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph got, routed.Sample(seeds, draw, nullptr));
    LocalNeighborSource source(graph.dataset(), draw);
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph expected,
                                  local.Sample(sampling, seeds, detail, &source));
    REQUIRE(testing::Describe(got) == testing::Describe(expected));
  }
}

// The graph without every edge of a type from one of these nodes to the other.
testing::MemoryGraph Less(testing::MemoryGraph graph, EdgeTypeId type,
                          const std::set<std::pair<int64_t, int64_t>>& out) {
  testing::MemoryEdges& edges = graph.edges[type.value];
  testing::MemoryEdges left;
  left.columns.resize(edges.columns.size());
  for (size_t i = 0; i < edges.sources.size(); ++i) {
    if (out.count({edges.sources[i], edges.targets[i]}) > 0) continue;
    left.sources.push_back(edges.sources[i]);
    left.targets.push_back(edges.targets[i]);
    for (size_t c = 0; c < edges.columns.size(); ++c) {
      left.columns[c] += graph.edge_row(type, static_cast<int>(c), static_cast<int64_t>(i));
    }
  }
  edges = left;
  return graph;
}

TEST_CASE("without its links a batch is that of a graph that never had them", "[batch_sampler]") {
  const EdgeTypeId knows{3};
  const testing::MemoryGraph all = testing::TypedGraph(60, 30, 10, 3);
  std::set<std::pair<int64_t, int64_t>> out;
  std::vector<std::vector<int64_t>> ends(2);
  const bool reverse = GENERATE(false, true);
  for (size_t i = 0; i < 40; ++i) {
    ends[0].push_back(all.edges[knows.value].sources[i * 3]);
    ends[1].push_back(all.edges[knows.value].targets[i * 3]);
    out.emplace(ends[0].back(), ends[1].back());
    if (reverse) out.emplace(ends[1].back(), ends[0].back());
  }
  const RoutedGraph with(all, 4, {1, 3});
  const RoutedGraph without(Less(all, knows, out), 4, {1, 3});
  std::vector<TypedSeeds> links;
  for (const std::vector<int64_t>& list : ends) {
    TypedSeeds& seeds = links.emplace_back(TypedSeeds{NodeTypeId{0}, {}});
    for (const int64_t position : list) seeds.ids.push_back(with.GlobalIds({0})[position]);
  }
  SamplingSpec sampling = SamplingSpec::Uniform(with.router().schema(), {3, kAllNeighbors, 2});
  sampling.expansion = GENERATE(Expansion::kAllNodes, Expansion::kNewNodes);
  sampling.disjoint = GENERATE(false, true);
  sampling.subgraph = GENERATE(Subgraph::kDirectional, Subgraph::kInduced);
  sampling.draws = GENERATE(Draws::kIndependent, Draws::kLabor);
  ExcludedTypes excluded{knows, {}};
  if (reverse) excluded.reverse = knows;
  RoutedBatchSampler less(with.router(), sampling, EdgeDetail(), excluded);
  RoutedBatchSampler never(without.router(), sampling, EdgeDetail());
  RoutedBatchSampler whole(with.router(), sampling, EdgeDetail());
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph got, less.Sample(links, {7, 2, 1}, nullptr));
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph expected,
                                never.Sample(links, {7, 2, 1}, nullptr));
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph other, whole.Sample(links, {7, 2, 1}, nullptr));
  CHECK(testing::Describe(got) == testing::Describe(expected));
  CHECK(testing::Describe(got) != testing::Describe(other));
}

testing::MemoryGraph TimedGraph(bool time_order = false) {
  testing::RandomGraphOptions options;
  options.num_nodes = 60;
  options.num_edges = 700;
  options.weights = true;
  options.times = true;
  options.time_order = time_order;
  return testing::RandomGraph(options);
}

// Only its edges of these times.
testing::MemoryGraph Within(testing::MemoryGraph graph, int64_t least, int64_t most) {
  testing::MemoryEdges left;
  left.columns.resize(graph.edges[0].columns.size());
  for (size_t i = 0; i < graph.edges[0].sources.size(); ++i) {
    int64_t time = 0;
    std::memcpy(&time, graph.edge_row({0}, 1, static_cast<int64_t>(i)).data(), sizeof(time));
    if (time < least || time > most) continue;
    left.sources.push_back(graph.edges[0].sources[i]);
    left.targets.push_back(graph.edges[0].targets[i]);
    for (size_t c = 0; c < left.columns.size(); ++c) {
      left.columns[c] += graph.edge_row({0}, static_cast<int>(c), static_cast<int64_t>(i));
    }
  }
  graph.edges[0] = left;
  return graph;
}

TEST_CASE("with a condition a batch is that of a graph that has only the edges that meet it",
          "[batch_sampler]") {
  const testing::MemoryGraph memory = TimedGraph();
  const RoutedGraph all(memory, 4, {1, 3});
  const RoutedGraph some(Within(memory, -3, 2), 4, {1, 3});
  TypedSeeds seeds{NodeTypeId{0}, {}};
  for (const int64_t position : {3, 17, 3, 40, 9}) {
    seeds.ids.push_back(all.GlobalIds({0})[position]);
  }
  SamplingSpec sampling = SamplingSpec::Uniform(memory.schema, {3, kAllNeighbors, 2});
  sampling.expansion = GENERATE(Expansion::kAllNodes, Expansion::kNewNodes);
  sampling.replace = GENERATE(false, true);
  sampling.disjoint = GENERATE(false, true);
  sampling.subgraph = GENERATE(Subgraph::kDirectional, Subgraph::kInduced);
  if (!sampling.replace) sampling.draws = GENERATE(Draws::kIndependent, Draws::kLabor);
  if (sampling.disjoint && GENERATE(false, true)) {
    sampling.time_column = "time";
    seeds.times = {0, 2, -3, 5, -6};
  }
  SamplingSpec filtered = sampling;
  filtered.where = "time >= -3 and time <= 2";
  RoutedBatchSampler with(all.router(), filtered, EdgeDetail());
  RoutedBatchSampler without(some.router(), sampling, EdgeDetail());
  RoutedBatchSampler whole(all.router(), sampling, EdgeDetail());
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph got, with.Sample({seeds}, {7, 2, 1}, nullptr));
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph expected,
                                without.Sample({seeds}, {7, 2, 1}, nullptr));
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph other,
                                whole.Sample({seeds}, {7, 2, 1}, nullptr));
  CHECK(testing::Describe(got) == testing::Describe(expected));
  CHECK(testing::Describe(got) != testing::Describe(other));
}

TEST_CASE("by time a batch is the same on any cut, and every tree ends with its seed's time",
          "[batch_sampler]") {
  const testing::MemoryGraph memory = TimedGraph(GENERATE(false, true));
  const std::vector<int64_t> positions = {3, 17, 3, 40, 9};
  const std::vector<int64_t> times = {0, 2, -3, 5, -6};
  SamplingSpec sampling = SamplingSpec::Uniform(memory.schema, {4, kAllNeighbors, 2});
  sampling.disjoint = true;
  sampling.time_column = "time";
  const int way = GENERATE(0, 1, 2, 3);
  if (way == 1) sampling.temporal_strategy = TemporalStrategy::kLast;
  if (way == 2) sampling.weighted_by = "weight";
  if (way == 3) sampling.replace = true;
  sampling.time_window = GENERATE(int64_t{-1}, int64_t{5});
  const bool has_window = sampling.time_window >= 0;
  sampling.subgraph = GENERATE(Subgraph::kDirectional, Subgraph::kInduced);
  std::string first;
  for (const int32_t num_shards : {1, 2, 4}) {
    const RoutedGraph graph(memory, num_shards, {0, 2});
    TypedSeeds seeds{NodeTypeId{0}, {}, times};
    for (const int64_t position : positions) {
      seeds.ids.push_back(graph.GlobalIds({0})[position]);
    }
    RoutedBatchSampler sampler(graph.router(), sampling, EdgeDetail(true));
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph batch,
                                  sampler.Sample({seeds}, {1, 2, 3}, nullptr));
    const std::string text = testing::DescribeInKeys(graph.dataset(), batch);
    if (first.empty()) first = text;
    CHECK(text == first);
    int64_t num_edges = 0;
    for (const std::vector<Block>& hop : batch.hops) {
      for (const Block& block : hop) {
        for (int64_t target = 0; target < block.num_targets(); ++target) {
          const uint32_t tree = batch.nodes[0].trees[block.first_target + target];
          for (int64_t e = block.offsets[target]; e < block.offsets[target + 1]; ++e) {
            int64_t time = 0;
            std::memcpy(&time, memory.edge_row({0}, 1, block.edge_ids[e]).data(), sizeof(time));
            CHECK(time <= times[tree]);
            if (has_window) CHECK(time >= times[tree] - sampling.time_window);
            ++num_edges;
          }
        }
      }
    }
    CHECK(num_edges > 30);
    SamplingSpec any_time = sampling;
    any_time.time_column.clear();
    any_time.time_window = -1;
    any_time.temporal_strategy = TemporalStrategy::kUniform;
    RoutedBatchSampler timeless(graph.router(), any_time, EdgeDetail());
    VICINITY_CHECK_CODE(timeless.Sample({seeds}, {1, 2, 3}, nullptr).status(),
                        absl::StatusCode::kInvalidArgument);
    // A seed without its time is no seed.
    TypedSeeds short_of = seeds;
    short_of.times.pop_back();
    VICINITY_CHECK_CODE(sampler.Sample({short_of}, {1, 2, 3}, nullptr).status(),
                        absl::StatusCode::kInvalidArgument);
  }
}

// (hop, tree, target, the bound at the target, source, edge id) of all edges on paths from the
// seeds along which times never rise, none before its seed's time less the window: found by going
// through the edges as they were imported, each node of a tree once for each bound.
using PathEdges = std::multiset<std::tuple<size_t, uint32_t, int64_t, int64_t>>;

PathEdges PathsOf(const testing::MemoryGraph& graph, const std::vector<int64_t>& seeds,
                  const std::vector<int64_t>& times, int64_t window, size_t num_hops) {
  PathEdges edges;
  for (uint32_t tree = 0; tree < seeds.size(); ++tree) {
    const int64_t from = window < 0 ? INT64_MIN : times[tree] - window;
    std::set<std::pair<int64_t, int64_t>> known = {{seeds[tree], times[tree]}};
    std::set<std::pair<int64_t, int64_t>> frontier = known;
    for (size_t hop = 0; hop < num_hops; ++hop) {
      std::set<std::pair<int64_t, int64_t>> met;
      for (const auto& [target, until] : frontier) {
        for (const testing::InEdge& edge : graph.InEdges({0}, target)) {
          int64_t time = 0;
          std::memcpy(&time, graph.edge_row({0}, 1, edge.edge_id).data(), sizeof(time));
          if (time > until || time < from) continue;
          edges.emplace(hop, tree, edge.edge_id, until);
          if (known.insert({edge.source, time}).second) met.insert({edge.source, time});
        }
      }
      frontier = met;
    }
  }
  return edges;
}

TEST_CASE("along a path times never rise, and none is left out, whatever the cut",
          "[batch_sampler]") {
  const testing::MemoryGraph memory = TimedGraph(GENERATE(false, true));
  const std::vector<int64_t> positions = {3, 17, 3, 40, 9};
  const std::vector<int64_t> times = {0, 2, -3, 5, -6};
  SamplingSpec sampling =
      SamplingSpec::Uniform(memory.schema, {kAllNeighbors, kAllNeighbors, kAllNeighbors});
  sampling.disjoint = true;
  sampling.expansion = Expansion::kNewNodes;
  sampling.time_column = "time";
  sampling.time_follows = TimeFollows::kPath;
  sampling.time_window = GENERATE(int64_t{-1}, int64_t{0}, int64_t{4});
  const PathEdges expected = PathsOf(memory, positions, times, sampling.time_window, 3);
  REQUIRE(expected.size() > (sampling.time_window == 0 ? 0 : 10));
  SamplingSpec drawn = sampling;
  drawn.fanouts = SamplingSpec::Uniform(memory.schema, {3, 2, 2}).fanouts;
  std::string first;
  for (const int32_t num_shards : {1, 2, 4}) {
    const RoutedGraph graph(memory, num_shards, {0, 2});
    TypedSeeds seeds{NodeTypeId{0}, {}, times};
    for (const int64_t position : positions) {
      seeds.ids.push_back(graph.GlobalIds({0})[position]);
    }
    RoutedBatchSampler all(graph.router(), sampling, EdgeDetail(true));
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph batch,
                                  all.Sample({seeds}, {1, 2, 3}, nullptr));
    // The bound of a node is what an edge that leads to it says; of a seed its seed's time.
    std::vector<int64_t> bounds(batch.nodes[0].ids.size());
    for (size_t i = 0; i < seeds.ids.size(); ++i) bounds[batch.seeds[0].positions[i]] = times[i];
    PathEdges got;
    for (size_t hop = 0; hop < batch.hops.size(); ++hop) {
      for (const Block& block : batch.hops[hop]) {
        for (int64_t target = 0; target < block.num_targets(); ++target) {
          const int64_t at = block.first_target + target;
          for (int64_t e = block.offsets[target]; e < block.offsets[target + 1]; ++e) {
            got.emplace(hop, batch.nodes[0].trees[at], block.edge_ids[e], bounds[at]);
            CHECK(batch.nodes[0].trees[block.sources[e]] == batch.nodes[0].trees[at]);
            std::memcpy(&bounds[block.sources[e]],
                        memory.edge_row({0}, 1, block.edge_ids[e]).data(), sizeof(int64_t));
          }
        }
      }
    }
    CHECK(got == expected);
    // What is drawn is the same on any cut.
    RoutedBatchSampler some(graph.router(), drawn, EdgeDetail(true));
    VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph few, some.Sample({seeds}, {1, 2, 3}, nullptr));
    const std::string text = testing::DescribeInKeys(graph.dataset(), few);
    if (first.empty()) first = text;
    CHECK(text == first);
  }
}

TEST_CASE("negatives have the times of their links", "[batch_sampler]") {
  const RoutedGraph graph(TimedGraph(), 2, {1});
  NegativeOptions options;
  options.mode = GENERATE(NegativeMode::kBinary, NegativeMode::kTriplet);
  options.shared = GENERATE(false, true) && options.mode == NegativeMode::kTriplet;
  options.amount = 2;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto negatives,
                                NegativeSampler::Make(graph.router(), EdgeTypeId{0}, options));
  SamplingSpec sampling = SamplingSpec::Uniform(graph.router().schema(), {kAllNeighbors});
  sampling.disjoint = true;
  sampling.time_column = "time";
  NegativeBatchSampler sampler(
      *negatives, std::make_unique<RoutedBatchSampler>(graph.router(), sampling, EdgeDetail(true)));
  // Of the first link nothing is early enough, of the second all is.
  constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
  constexpr int64_t kEver = std::numeric_limits<int64_t>::max();
  const std::vector<TypedSeeds> links = {{NodeTypeId{0}, {4, 9}, {kNever, kEver}},
                                         {NodeTypeId{0}, {2, 3}, {kNever, kEver}}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph batch,
                                sampler.Sample(links, {1, 2, 3}, nullptr));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<TypedSeeds> drawn,
                                negatives->Draw({4, 9}, {1, 2, 3}, nullptr));
  std::vector<bool> ever = {false, true, false, true};  // by tree
  for (const TypedSeeds& list : drawn) {
    for (size_t i = 0; i < list.ids.size(); ++i) {
      // Two targets a link, or pairs that belong to the links in turn.
      ever.push_back(options.mode == NegativeMode::kTriplet ? i / 2 == 1 : i % 2 == 1);
    }
  }
  const Block& block = batch.hops[0][0];
  REQUIRE(block.num_targets() == static_cast<int64_t>(ever.size()));
  int64_t with_edges = 0;
  for (int64_t target = 0; target < block.num_targets(); ++target) {
    const uint32_t tree = batch.nodes[0].trees[target];
    const int64_t count = block.offsets[target + 1] - block.offsets[target];
    with_edges += count > 0 ? 1 : 0;
    for (int64_t e = block.offsets[target]; e < block.offsets[target + 1] && !ever[tree]; ++e) {
      int64_t time = 0;
      std::memcpy(&time, graph.graph().edge_row({0}, 1, block.edge_ids[e]).data(), sizeof(time));
      CHECK(time == kNever);
    }
    if (ever[tree]) {
      const int64_t node = graph.placement().PositionOf({0}, {batch.nodes[0].ids[target]});
      CHECK(count == static_cast<int64_t>(graph.graph().InEdges({0}, node).size()));
    }
  }
  CHECK(with_edges >= static_cast<int64_t>(ever.size()) / 2);
}

TEST_CASE("negatives come behind the links", "[batch_sampler]") {
  const RoutedGraph graph(testing::TypedGraph(60, 30, 10, 3), 4, {1, 3});
  NegativeOptions options;
  options.mode = GENERATE(NegativeMode::kBinary, NegativeMode::kTriplet);
  options.amount = 2;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto negatives,
                                NegativeSampler::Make(graph.router(), EdgeTypeId{0}, options));
  const SamplingSpec sampling = SamplingSpec::Uniform(graph.router().schema(), {2});
  NegativeBatchSampler sampler(
      *negatives, std::make_unique<RoutedBatchSampler>(graph.router(), sampling, EdgeDetail()));
  const std::vector<TypedSeeds> links = {{NodeTypeId{0}, {4, 9}}, {NodeTypeId{1}, {2, 2}}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph batch,
                                sampler.Sample(links, {1, 2, 3}, nullptr));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<TypedSeeds> drawn,
                                negatives->Draw({4, 9}, {1, 2, 3}, nullptr));
  REQUIRE(batch.seeds.size() == 2 + drawn.size());
  std::vector<TypedSeeds> lists = links;
  lists.insert(lists.end(), drawn.begin(), drawn.end());
  for (size_t i = 0; i < lists.size(); ++i) {
    CHECK(batch.seeds[i].node_type == lists[i].type.value);
    std::vector<int64_t> ids;
    for (const int32_t position : batch.seeds[i].positions) {
      ids.push_back(batch.nodes[lists[i].type.value].ids[position]);
    }
    CHECK(ids == lists[i].ids);
  }
}

TEST_CASE("negatives share values with the targets of their links", "[batch_sampler]") {
  const RoutedGraph graph(testing::RandomGraph({}), 2);
  NegativeOptions options;
  options.mode = NegativeMode::kTriplet;
  options.amount = 4;
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const auto negatives,
      NegativeSampler::Make(graph.router(), EdgeTypeId{0}, options, {}, {{"label", 0.5}}));
  const SamplingSpec sampling = SamplingSpec::Uniform(graph.router().schema(), {2});
  NegativeBatchSampler sampler(
      *negatives, std::make_unique<RoutedBatchSampler>(graph.router(), sampling, EdgeDetail()));
  const std::vector<TypedSeeds> links = {{NodeTypeId{0}, {4, 9, 4}}, {NodeTypeId{0}, {2, 7, 5}}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph batch,
                                sampler.Sample(links, {1, 2, 3}, nullptr));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<TypedSeeds> drawn,
                                negatives->Draw({4, 9, 4}, {1, 2, 3}, nullptr, {2, 7, 5}));
  REQUIRE(batch.seeds.size() == 3);
  std::vector<int64_t> ids;
  for (const int32_t position : batch.seeds[2].positions) {
    ids.push_back(batch.nodes[0].ids[position]);
  }
  CHECK(ids == drawn.front().ids);
}

TEST_CASE("a cancelled loader draws no more", "[batch_sampler]") {
  const RoutedGraph graph(testing::TypedGraph(200, 60, 10, 3), 4, {1, 3});
  RoutedBatchSampler sampler(graph.router(), SamplingSpec::Uniform(graph.router().schema(), {4}),
                             EdgeDetail());
  Cancellation cancel;
  cancel.Cancel();
  VICINITY_CHECK_CODE(sampler.Sample({{NodeTypeId{0}, {1}}}, {}, &cancel).status(),
                      absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace vicinity

#include "cache/vip/vip.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cache/vip/seed_chances.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/common/random.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/sampled_graph.h"
#include "tests/cache/vip/vip_oracles.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::EnumeratedVip;
using testing::FirstChances;
using testing::LinkStarts;
using testing::MemoryGraph;
using testing::NaiveVip;
using testing::NodeStarts;
using testing::Placement;
using testing::Probabilities;
using testing::SmallLinks;
using testing::Start;
using testing::TempDir;

VipOptions Options(SamplingSpec spec, int64_t batch_size) {
  VipOptions options;
  options.sampling = std::move(spec);
  options.batch_size = batch_size;
  options.num_threads = 2;
  return options;
}

// A graph of one node type and one edge type; edges from in-neighbour to target.
MemoryGraph Homogeneous(int64_t num_nodes, std::vector<std::pair<int64_t, int64_t>> edges) {
  MemoryGraph graph;
  graph.schema.node_types.resize(1);
  graph.schema.node_types[0].name = "node";
  graph.schema.edge_types = {{0, "links", 0, {}}};
  graph.nodes.resize(1);
  graph.nodes[0].keys.resize(num_nodes);
  std::iota(graph.nodes[0].keys.begin(), graph.nodes[0].keys.end(), uint64_t{0});
  graph.edges.resize(1);
  for (const auto& [source, target] : edges) {
    graph.edges[0].sources.push_back(source);
    graph.edges[0].targets.push_back(target);
  }
  return graph;
}

std::unique_ptr<Dataset> Written(const MemoryGraph& graph, const Placement& placement,
                                 const TempDir& dir) {
  VICINITY_REQUIRE_OK(WriteGraph(graph, placement, dir.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Dataset> dataset, Dataset::Open(dir.File("graph")));
  return dataset;
}

// Scores of one home, by position in memory.
Probabilities Scores(const MemoryGraph& graph, NodeTypeId seed_type,
                     const std::vector<int64_t>& seeds, const VipOptions& options) {
  const TempDir dir;
  const std::unique_ptr<Dataset> dataset = Written(graph, InUserOrder(graph), dir);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const VipScores scores,
      ComputeVip(*dataset, {HomeSeeds{seed_type, seeds}}, options, NoProgress()));
  Probabilities values;
  for (const std::vector<float>& of_type : scores.values) {
    values.emplace_back(of_type.begin(), of_type.end());
  }
  return values;
}

// The largest |found - expected| / (expected + tiny).
double RelativeError(const Probabilities& found, const Probabilities& expected) {
  REQUIRE(found.size() == expected.size());
  double worst = 0;
  for (size_t type = 0; type < found.size(); ++type) {
    REQUIRE(found[type].size() == expected[type].size());
    for (size_t u = 0; u < found[type].size(); ++u) {
      const double error = std::abs(found[type][u] - expected[type][u]);
      worst = std::max(worst, error / (expected[type][u] + 1e-12));
    }
  }
  return worst;
}

SamplingSpec Spec(const Schema& schema, const std::vector<int64_t>& fanouts, Expansion expansion,
                  bool replace) {
  SamplingSpec spec = SamplingSpec::Uniform(schema, fanouts);
  spec.expansion = expansion;
  spec.replace = replace;
  return spec;
}

TEST_CASE("on trees, stars and chains the probabilities are exact", "[vip]") {
  const bool undirected = GENERATE(false, true);
  const auto [num_nodes, edges, seeds, batch] = GENERATE(
      table<int64_t, std::vector<std::pair<int64_t, int64_t>>, std::vector<int64_t>, int64_t>({
          {5, {{1, 0}, {2, 1}, {3, 2}, {4, 3}}, {0}, 1},                          // chain
          {6, {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}}, {0}, 1},                  // star
          {8, {{1, 0}, {2, 0}, {3, 0}, {4, 1}, {5, 1}, {6, 2}, {7, 2}}, {0}, 1},  // tree
          {9, {{1, 0}, {2, 0}, {3, 1}, {4, 1}, {5, 1}, {6, 3}, {7, 3}, {8, 4}}, {0}, 7},
          {8, {{2, 0}, {3, 0}, {4, 0}, {5, 1}, {6, 1}, {7, 2}}, {0, 1}, 1},  // two trees
          {8, {{2, 0}, {3, 0}, {4, 0}, {5, 1}, {6, 1}, {7, 2}}, {1, 0}, 2},
          {3, {{0, 0}, {1, 0}, {2, 0}}, {0}, 1},  // a loop
          {3, {{1, 0}, {1, 0}, {2, 0}}, {0}, 1},  // parallel edges
          {4, {{1, 0}, {1, 0}, {2, 1}, {2, 1}, {2, 1}, {3, 1}}, {0}, 1},
      }));
  std::vector<std::pair<int64_t, int64_t>> both_ways = edges;
  for (const auto& [source, target] : edges) {
    if (undirected && source != target) both_ways.push_back({target, source});
  }
  const MemoryGraph graph = Homogeneous(num_nodes, both_ways);
  for (const std::vector<int64_t>& fanouts : std::vector<std::vector<int64_t>>{
           {1}, {2, 1}, {1, 2}, {1, 1, 1}, {2, 1, 2}, {kAllNeighbors, 1}, {1, kAllNeighbors}}) {
    for (const Expansion expansion : {Expansion::kAllNodes, Expansion::kNewNodes}) {
      for (const bool replace : {false, true}) {
        const SamplingSpec spec = Spec(graph.schema, fanouts, expansion, replace);
        const Probabilities exact = EnumeratedVip(graph, NodeStarts({0}, seeds, batch), spec);
        const Probabilities found = Scores(graph, {0}, seeds, Options(spec, batch));
        CAPTURE(num_nodes, fanouts, static_cast<int>(expansion), replace, exact, found);
        CHECK(RelativeError(found, exact) < 1e-6);
      }
    }
  }
}

// A chain of typed edges, in which some pairs of neighbours have edges of two types and some have
// several of one.
MemoryGraph TypedChain(bool undirected) {
  MemoryGraph graph = Homogeneous(4, {{1, 0}, {1, 0}, {2, 1}, {3, 2}});
  graph.schema.edge_types.push_back({0, "also", 0, {}});
  graph.edges.emplace_back();
  graph.edges[1].sources = {1, 2, 3, 3};
  graph.edges[1].targets = {0, 1, 2, 2};
  if (!undirected) return graph;
  for (const char* name : {"links_back", "also_back"}) {
    graph.schema.edge_types.push_back({0, name, 0, {}});
    graph.edges.push_back(graph.edges[graph.edges.size() - 2]);
    std::swap(graph.edges.back().sources, graph.edges.back().targets);
  }
  return graph;
}

TEST_CASE("edges of several types between two nodes are not independent", "[vip]") {
  const MemoryGraph graph = TypedChain(GENERATE(false, true));
  for (const Expansion expansion : {Expansion::kAllNodes, Expansion::kNewNodes}) {
    for (const bool replace : {false, true}) {
      const SamplingSpec spec = Spec(graph.schema, {1, 2, 1}, expansion, replace);
      const Probabilities exact = EnumeratedVip(graph, NodeStarts({0}, {0}, 1), spec);
      const Probabilities found = Scores(graph, {0}, {0}, Options(spec, 1));
      CAPTURE(static_cast<int>(expansion), replace, exact, found);
      CHECK(RelativeError(found, exact) < 1e-6);
    }
  }
}

// Gives the edges of type 0 weights by their ends, whichever way they go.
void AddWeights(MemoryGraph* graph) {
  EdgeTypeSpec& type = graph->schema.edge_types[0];
  type.columns = {{"weight", DType::kFloat32, {}}};
  type.weight_column = "weight";
  testing::MemoryEdges& edges = graph->edges[0];
  edges.columns = {""};
  for (size_t i = 0; i < edges.sources.size(); ++i) {
    const auto [low, high] = std::minmax(edges.sources[i], edges.targets[i]);
    const float weight = static_cast<float>((low * 31 + high * 17) % 7) * 0.5F;  // some are 0
    edges.columns[0].append(reinterpret_cast<const char*>(&weight), sizeof(weight));
  }
}

TEST_CASE("on weighted trees the probabilities are exact, or near without replacement", "[vip]") {
  MemoryGraph graph = Homogeneous(
      9, {{1, 0}, {2, 0}, {3, 1}, {4, 1}, {4, 1}, {5, 1}, {6, 3}, {7, 3}, {8, 4}, {0, 8}});
  graph.edges[0].sources.pop_back();
  graph.edges[0].targets.pop_back();
  if (GENERATE(false, true)) {
    testing::MemoryEdges& edges = graph.edges[0];
    for (int i = 0; i < 9; ++i) {
      edges.sources.push_back(edges.targets[i]);
      edges.targets.push_back(edges.sources[i]);
    }
  }
  AddWeights(&graph);
  for (const std::vector<int64_t>& fanouts : std::vector<std::vector<int64_t>>{
           {1}, {2, 1}, {1, 2}, {1, 1, 1}, {2, 1, 2}, {kAllNeighbors, 1}, {1, kAllNeighbors}}) {
    for (const Expansion expansion : {Expansion::kAllNodes, Expansion::kNewNodes}) {
      for (const bool replace : {false, true}) {
        SamplingSpec spec = Spec(graph.schema, fanouts, expansion, replace);
        spec.weighted_by = "weight";
        const Probabilities exact = EnumeratedVip(graph, NodeStarts({0}, {0}, 1), spec);
        const Probabilities found = Scores(graph, {0}, {0}, Options(spec, 1));
        CAPTURE(fanouts, static_cast<int>(expansion), replace, exact, found);
        const bool several =
            std::any_of(fanouts.begin(), fanouts.end(), [](int64_t fanout) { return fanout > 1; });
        if (replace || !several) {
          CHECK(RelativeError(found, exact) < 1e-6);
        } else {
          for (size_t u = 0; u < 9; ++u) CHECK(std::abs(found[0][u] - exact[0][u]) < 0.1);
        }
      }
    }
  }
}

TEST_CASE("on weighted graphs the probabilities are those of the formula, edge by edge", "[vip]") {
  testing::RandomGraphOptions shape;
  shape.num_nodes = 150;
  shape.num_edges = 500;
  MemoryGraph graph = testing::RandomGraph(shape);
  if (GENERATE(false, true)) {
    testing::MemoryEdges& edges = graph.edges[0];
    for (int i = 0; i < 500; ++i) {
      edges.sources.push_back(edges.targets[i]);
      edges.targets.push_back(edges.sources[i]);
    }
  }
  AddWeights(&graph);
  SamplingSpec spec =
      Spec(graph.schema, {3, kAllNeighbors, 2},
           GENERATE(Expansion::kAllNodes, Expansion::kNewNodes), GENERATE(false, true));
  spec.weighted_by = "weight";
  const std::vector<int64_t> seeds = {0, 3, 5, 9, 17, 31, 40};
  const Probabilities found = Scores(graph, {0}, seeds, Options(spec, 3));
  const Probabilities expected =
      NaiveVip(graph, FirstChances(graph, NodeStarts({0}, seeds, 3)), spec);
  CHECK(RelativeError(found, expected) < 1e-5);
}

// Some edges, the same both ways.
bool IsThere(int64_t a, int64_t b) { return (a * a + a * b + b * b) % 5 != 0; }

TEST_CASE("edges that a filter leaves out are as if the graph had never had them", "[vip]") {
  const bool undirected = GENERATE(false, true);
  const bool weighted = GENERATE(false, true);
  testing::RandomGraphOptions shape;
  shape.num_nodes = 80;
  shape.num_edges = 300;
  const MemoryGraph random = testing::RandomGraph(shape);
  std::set<std::pair<int64_t, int64_t>> edges;  // none are parallel
  for (size_t i = 0; i < random.edges[0].sources.size(); ++i) {
    const int64_t source = random.edges[0].sources[i], target = random.edges[0].targets[i];
    edges.insert({source, target});
    if (undirected) edges.insert({target, source});
  }
  std::vector<std::pair<int64_t, int64_t>> there;
  for (const auto& edge : edges) {
    if (IsThere(edge.first, edge.second)) there.push_back(edge);
  }
  REQUIRE(there.size() < edges.size());
  MemoryGraph all = Homogeneous(shape.num_nodes, {edges.begin(), edges.end()});
  MemoryGraph some = Homogeneous(shape.num_nodes, there);
  if (weighted) AddWeights(&all);
  if (weighted) AddWeights(&some);
  SamplingSpec spec =
      Spec(all.schema, {3, kAllNeighbors, 2}, GENERATE(Expansion::kAllNodes, Expansion::kNewNodes),
           GENERATE(false, true));
  if (weighted) spec.weighted_by = "weight";
  const std::vector<int64_t> seeds = {0, 3, 5, 9, 17, 31, 40};
  VipOptions options = Options(spec, 3);
  const Probabilities expected = Scores(some, {0}, seeds, options);
  const Probabilities unfiltered = Scores(all, {0}, seeds, options);
  options.filter = [](EdgeTypeId type, const Shard& shard) {
    const BaseLists lists(shard, type);
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < lists.num_edges(); ++i) {
      bytes.push_back(IsThere(lists.source(i), lists.TargetOf(i)) ? 1 : 0);
    }
    return bytes;
  };
  CAPTURE(undirected, weighted, spec.replace);
  CHECK(RelativeError(Scores(all, {0}, seeds, options), expected) < 1e-4);
  CHECK(RelativeError(unfiltered, expected) > 0.1);
  // One that leaves nothing out changes not a bit.
  options.filter = [](EdgeTypeId type, const Shard& shard) {
    return std::vector<uint8_t>(BaseLists(shard, type).num_edges(), 1);
  };
  CHECK(Scores(all, {0}, seeds, options) == unfiltered);
}

LinkSeeds SeedsOf(const SmallLinks& links) {
  std::vector<int64_t> sources, targets;
  for (const auto& [source, target] : links.links) {
    sources.push_back(source);
    targets.push_back(target);
  }
  LinkSeeds seeds = CountEnds(links.source_type, sources, links.target_type, targets);
  seeds.negatives_per_link = links.negatives_per_link;
  seeds.negative_type = links.negative_type;
  seeds.negatives = links.negatives;
  return seeds;
}

Probabilities LinkScores(const MemoryGraph& graph, const LinkSeeds& seeds,
                         const VipOptions& options) {
  const TempDir dir;
  const std::unique_ptr<Dataset> dataset = Written(graph, InUserOrder(graph), dir);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const VipScores scores,
      ComputeLinkVip(*dataset, {seeds}, LinkEdges(), options, NoProgress()));
  Probabilities values;
  for (const std::vector<float>& of_type : scores.values) {
    values.emplace_back(of_type.begin(), of_type.end());
  }
  return values;
}

TEST_CASE("a single link's batch is exact where its ends share nobody", "[vip]") {
  // Two chains, and a link between their heads that is no edge.
  const MemoryGraph graph = Homogeneous(7, {{1, 0}, {2, 1}, {4, 3}, {5, 3}, {6, 4}});
  SmallLinks links{{0}, {0}, {{0, 3}}, 0, {0}, {}};
  for (const bool replace : {false, true}) {
    const SamplingSpec spec = Spec(graph.schema, {1, 1}, Expansion::kAllNodes, replace);
    CHECK(RelativeError(LinkScores(graph, SeedsOf(links), Options(spec, 1)),
                        EnumeratedVip(graph, LinkStarts(links, 1), spec)) < 1e-6);
  }
}

TEST_CASE("links are near what enumeration of small graphs gives", "[vip]") {
  // Ends and negatives are dependent, which the analysis does not see: rows in all are right to 5 %
  // where sampling reaches half of the graph.
  testing::RandomGraphOptions shape;
  shape.num_nodes = 12;
  shape.num_edges = 14;
  shape.seed = GENERATE(1, 2, 3);
  const MemoryGraph graph = testing::RandomGraph(shape);
  const SmallLinks links{{0}, {0},       {{0, 1}, {2, 3}, {0, 4}, {5, 5}, {6, 7}}, GENERATE(0, 1),
                         {0}, {8, 9, 10}};
  const int64_t batch = GENERATE(1, 2);
  const SamplingSpec spec =
      Spec(graph.schema, {2, 1}, GENERATE(Expansion::kAllNodes, Expansion::kNewNodes), false);
  const std::vector<Start> starts = LinkStarts(links, batch);
  const Probabilities found = LinkScores(graph, SeedsOf(links), Options(spec, batch));
  CHECK(RelativeError(found, NaiveVip(graph, FirstChances(graph, starts), spec)) < 1e-5);
  const Probabilities exact = EnumeratedVip(graph, starts, spec);
  const double expected_rows = std::accumulate(found[0].begin(), found[0].end(), 0.0);
  const double exact_rows = std::accumulate(exact[0].begin(), exact[0].end(), 0.0);
  CAPTURE(shape.seed, batch, links.negatives_per_link, expected_rows, exact_rows);
  CHECK(std::abs(expected_rows / exact_rows - 1) < 0.05);
}

TEST_CASE("links that are edges are those of the formula, edge by edge", "[vip]") {
  testing::RandomGraphOptions shape;
  shape.num_nodes = 60;
  shape.num_edges = 150;
  MemoryGraph graph = testing::RandomGraph(shape);
  const bool undirected = GENERATE(false, true);
  testing::MemoryEdges& edges = graph.edges[0];
  for (int64_t i = 0; undirected && i < shape.num_edges; ++i) {
    edges.sources.push_back(edges.targets[i]);
    edges.targets.push_back(edges.sources[i]);
  }
  // Home 0 has the links to the first 40 nodes, home 1 those to the others.
  LinkEdges links;
  links.type = {0};
  for (int64_t node = 0; node < shape.num_nodes; ++node) links.home_of.push_back(node < 40 ? 0 : 1);
  std::vector<LinkSeeds> homes;
  std::vector<Probabilities> expected;
  const SamplingSpec spec =
      Spec(graph.schema, {3, 2, 2}, GENERATE(Expansion::kAllNodes, Expansion::kNewNodes), false);
  for (int32_t home = 0; home < 2; ++home) {
    std::vector<int64_t> sources, targets;
    for (size_t i = 0; i < edges.sources.size(); ++i) {
      if (links.home_of[edges.targets[i]] != home) continue;
      sources.push_back(edges.sources[i]);
      targets.push_back(edges.targets[i]);
    }
    homes.push_back(CountEnds({0}, sources, {0}, targets));
    // Directed: v knows its links from u, and nothing of its links to u.
    std::map<std::pair<int64_t, int64_t>, double> together;
    const double chance = 5 / static_cast<double>(sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      double& forth = together[{targets[i], sources[i]}];
      forth += chance * (1 - forth);
      if (!undirected) continue;
      double& back = together[{sources[i], targets[i]}];
      back += chance * (1 - back);
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, Book::Create({{0, shape.num_nodes}}));
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto chances, ChancesOf(homes.back(), 5, book));
    Probabilities first(1, std::vector<double>(shape.num_nodes));
    for (size_t i = 0; i < chances[0].nodes.size(); ++i) {
      first[0][chances[0].nodes[i]] = chances[0].chances[i];
    }
    expected.push_back(NaiveVip(graph, first, spec, together));
  }
  const TempDir dir;
  const std::unique_ptr<Dataset> dataset = Written(graph, InUserOrder(graph), dir);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const VipScores scores,
      ComputeLinkVip(*dataset, homes, links, Options(spec, 5), NoProgress()));
  for (int32_t home = 0; home < 2; ++home) {
    Probabilities found(1);
    for (int64_t node = 0; node < shape.num_nodes; ++node) {
      found[0].push_back(scores.at({0}, {node}, home));
    }
    CHECK(RelativeError(found, expected[home]) < 1e-4);
  }
  links.home_of[7] = 2;
  VICINITY_CHECK_CODE(
      ComputeLinkVip(*dataset, homes, links, Options(spec, 5), NoProgress()).status(),
      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("links between types, with negatives among all nodes of one", "[vip]") {
  const MemoryGraph graph = testing::TypedGraph(40, 30, 5, 3);
  SmallLinks links{{0}, {1}, {{0, 3}, {1, 3}, {7, 0}, {9, 22}}, 1, {1}, {}};
  const SamplingSpec spec = Spec(graph.schema, {3, 2}, Expansion::kAllNodes, false);
  const LinkSeeds seeds = SeedsOf(links);
  links.negatives.resize(30);
  std::iota(links.negatives.begin(), links.negatives.end(), int64_t{0});
  CHECK(RelativeError(LinkScores(graph, seeds, Options(spec, 2)),
                      NaiveVip(graph, FirstChances(graph, LinkStarts(links, 2)), spec)) < 1e-5);
}

// Makes "bought_by" the reverse of "buys", and "knows" symmetric.
void AddWaysBack(MemoryGraph* graph) {
  testing::MemoryEdges& buys = graph->edges[graph->schema.FindEdgeType("buys")];
  testing::MemoryEdges& bought_by = graph->edges[graph->schema.FindEdgeType("bought_by")];
  REQUIRE(bought_by.columns.empty());
  bought_by.sources = buys.targets;
  bought_by.targets = buys.sources;
  testing::MemoryEdges& knows = graph->edges[graph->schema.FindEdgeType("knows")];
  REQUIRE(knows.columns.empty());
  const testing::MemoryEdges one_way = knows;
  knows.sources.insert(knows.sources.end(), one_way.targets.begin(), one_way.targets.end());
  knows.targets.insert(knows.targets.end(), one_way.sources.begin(), one_way.sources.end());
}

TEST_CASE("on typed graphs the probabilities are those of the formula, edge by edge", "[vip]") {
  MemoryGraph graph = testing::TypedGraph(120, 60, 15, 21);
  if (GENERATE(false, true)) AddWaysBack(&graph);
  const Expansion expansion = GENERATE(Expansion::kAllNodes, Expansion::kNewNodes);
  const bool replace = GENERATE(false, true);
  SamplingSpec spec = Spec(graph.schema, {3, 2, 2}, expansion, replace);
  if (GENERATE(false, true)) {  // other fanouts along every edge type, in every hop
    for (size_t hop = 0; hop < spec.fanouts.size(); ++hop) {
      for (size_t type = 0; type < spec.fanouts[hop].size(); ++type) {
        spec.fanouts[hop][type] = static_cast<int64_t>((hop + type) % 4) - 1;
      }
    }
  }
  const int32_t seed_type = GENERATE(0, 1);
  const std::vector<int64_t> seeds = {0, 3, 5, 9, 17, 31, 40, 41, 42, 50};
  const int64_t batch = GENERATE(3, 10);
  CAPTURE(static_cast<int>(expansion), replace, seed_type, batch, spec.fanouts);
  const Probabilities found = Scores(graph, {seed_type}, seeds, Options(spec, batch));
  const Probabilities expected =
      NaiveVip(graph, FirstChances(graph, NodeStarts({seed_type}, seeds, batch)), spec);
  CHECK(RelativeError(found, expected) < 1e-5);
}

TEST_CASE("cuts, homes at once and threads change nothing", "[vip]") {
  testing::RandomGraphOptions shape;
  shape.num_nodes = 400;
  shape.num_edges = 3000;
  const MemoryGraph graph = testing::RandomGraph(shape);
  const Expansion expansion = GENERATE(Expansion::kAllNodes, Expansion::kNewNodes);
  const SamplingSpec spec = Spec(graph.schema, {4, 3, 2}, expansion, false);
  const std::vector<std::vector<int64_t>> seeds = {{1, 2, 3, 4, 5}, {}, {100, 399}, {7}};
  const TempDir dir;
  const Placement placement = Shuffled(graph, 4, 3);
  const std::unique_ptr<Dataset> dataset = Written(graph, placement, dir);
  std::vector<HomeSeeds> homes;
  for (const std::vector<int64_t>& positions : seeds) {
    HomeSeeds home{{0}, {}};
    for (const int64_t position : positions) {
      const auto& order = placement.order[0];
      home.nodes.push_back(std::find(order.begin(), order.end(), position) - order.begin());
    }
    homes.push_back(home);
  }
  VipOptions options = Options(spec, 3);
  options.num_threads = 1;
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores scores,
                                ComputeVip(*dataset, homes, options, NoProgress()));
  REQUIRE(scores.num_homes == 4);
  for (size_t k = 0; k < seeds.size(); ++k) {
    const Probabilities alone = Scores(graph, {0}, seeds[k], options);
    Probabilities together(1, std::vector<double>(shape.num_nodes));
    for (int64_t node = 0; node < shape.num_nodes; ++node) {
      together[0][placement.PositionOf({0}, {node})] =
          scores.at({0}, {node}, static_cast<int32_t>(k));
    }
    CHECK(RelativeError(together, alone) < 1e-6);
  }
  for (const int threads : {2, 5, 0}) {
    options.num_threads = threads;
    VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores again,
                                  ComputeVip(*dataset, homes, options, NoProgress()));
    CHECK(again.values == scores.values);
  }
}

TEST_CASE("homes beyond eight are those of a pass of their own", "[vip]") {
  const MemoryGraph graph = testing::RandomGraph({});
  const TempDir dir;
  const std::unique_ptr<Dataset> dataset = Written(graph, InUserOrder(graph), dir);
  const VipOptions options = Options(Spec(graph.schema, {4, 3}, Expansion::kAllNodes, false), 2);
  std::vector<HomeSeeds> homes;
  for (int64_t home = 0; home < 19; ++home)
    homes.push_back({{0}, {home, home + 20, 2 * home + 41}});
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores scores,
                                ComputeVip(*dataset, homes, options, NoProgress()));
  REQUIRE(scores.num_homes == 19);
  CHECK(VipMemoryBytes(*dataset, options.sampling, 19) > 4 * 19 * graph.num_nodes({0}));
  for (int32_t home = 0; home < 19; ++home) {
    const Probabilities alone = Scores(graph, {0}, homes[home].nodes, options);
    Probabilities together(1);
    for (int64_t node = 0; node < graph.num_nodes({0}); ++node) {
      together[0].push_back(scores.at({0}, {node}, home));
    }
    CAPTURE(home);
    CHECK(RelativeError(together, alone) < 1e-6);
  }
}

// How often each node is met in sampled minibatches around `batch` of `seeds`.
std::vector<double> Measured(const Dataset& dataset, std::vector<int64_t> seeds, int64_t batch,
                             const SamplingSpec& spec, int num_batches) {
  std::vector<double> met(dataset.book().num_nodes({0}));
  NodeDraws draws(2, 3);
  for (int i = 0; i < num_batches; ++i) {
    for (int64_t j = 0; j < batch; ++j) {  // the front of a fresh permutation
      std::swap(seeds[j], seeds[j + draws.Below(seeds.size() - j)]);
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const SampledGraph graph,
        SampleLocal(dataset, {0}, absl::MakeConstSpan(seeds).subspan(0, batch), spec,
                    {1, 0, static_cast<uint64_t>(i)}));
    for (const int64_t node : graph.nodes[0].ids) met[node] += 1.0 / num_batches;
  }
  return met;
}

TEST_CASE("expected rows agree with sampled ones", "[vip]") {
  // Weighted and not: rows in all to 1.5 %, and each node's probability to 0.012 on average, most
  // of which is the measurement's own noise. Without looking at the way back, sparse undirected
  // graphs like this one come out 12 to 17 % too high.
  const bool undirected = GENERATE(false, true);
  testing::RandomGraphOptions shape;
  shape.num_nodes = 2000;
  shape.num_edges = undirected ? 6000 : 12000;
  MemoryGraph graph = testing::RandomGraph(shape);
  if (undirected) {
    testing::MemoryEdges& edges = graph.edges[0];
    for (int64_t i = 0; i < shape.num_edges; ++i) {
      edges.sources.push_back(edges.targets[i]);
      edges.targets.push_back(edges.sources[i]);
    }
  }
  const Expansion expansion = GENERATE(Expansion::kAllNodes, Expansion::kNewNodes);
  const bool replace = GENERATE(false, true);
  const bool weighted = GENERATE(false, true);
  if (weighted) AddWeights(&graph);
  SamplingSpec spec = Spec(graph.schema, {4, 3, 2}, expansion, replace);
  if (weighted) spec.weighted_by = "weight";
  const TempDir dir;
  const std::unique_ptr<Dataset> dataset = Written(graph, InUserOrder(graph), dir);
  std::vector<int64_t> seeds(200);
  std::iota(seeds.begin(), seeds.end(), int64_t{0});
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const VipScores scores,
      ComputeVip(*dataset, {HomeSeeds{{0}, seeds}}, Options(spec, 20), NoProgress()));
  const std::vector<double> met = Measured(*dataset, seeds, 20, spec, 1500);
  double expected_rows = 0, measured_rows = 0, error = 0;
  for (int64_t node = 200; node < shape.num_nodes; ++node) {
    expected_rows += scores.at({0}, {node}, 0);
    measured_rows += met[node];
    error += std::abs(scores.at({0}, {node}, 0) - met[node]) / (shape.num_nodes - 200.0);
  }
  CAPTURE(undirected, static_cast<int>(expansion), replace, weighted, expected_rows, measured_rows,
          error);
  CHECK(std::abs(expected_rows / measured_rows - 1) < 0.015);
  CHECK(error < 0.012);
}

// How many nodes minibatches around `batch` of the graph's edges meet.
double MeasuredLinkRows(const Dataset& dataset, const MemoryGraph& graph, int64_t batch,
                        int64_t negatives, const SamplingSpec& spec, int num_batches) {
  const testing::MemoryEdges& edges = graph.edges[0];
  NodeDraws draws(2, 3);
  double rows = 0;
  for (int i = 0; i < num_batches; ++i) {
    std::vector<int64_t> seeds;
    for (int64_t j = 0; j < batch; ++j) {  // with replacement: none of thousands comes twice
      const uint64_t link = draws.Below(edges.sources.size());
      seeds.push_back(edges.sources[link]);
      seeds.push_back(edges.targets[link]);
      for (int64_t n = 0; n < negatives; ++n) {
        seeds.push_back(static_cast<int64_t>(draws.Below(graph.num_nodes({0}))));
      }
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const SampledGraph sampled,
        SampleLocal(dataset, {0}, seeds, spec, {1, 0, static_cast<uint64_t>(i)}));
    rows += static_cast<double>(sampled.nodes[0].ids.size()) / num_batches;
  }
  return rows;
}

// All edges of type 0 are links of home 0.
LinkEdges AllOf(const MemoryGraph& graph) {
  LinkEdges edges;
  edges.type = {0};
  edges.home_of.assign(graph.num_nodes({0}), 0);
  return edges;
}

TEST_CASE("expected rows of links agree with sampled ones", "[vip]") {
  // Were both ends of a link taken as independent, rows of the sparse undirected graphs here would
  // come out 16 % too high: each end would be drawn by the other once more.
  const bool undirected = GENERATE(false, true);
  const int64_t degree = GENERATE(6, 24);
  const int64_t negatives = GENERATE(0, 1);
  testing::RandomGraphOptions shape;
  shape.num_nodes = 3000;
  shape.num_edges = shape.num_nodes * (undirected ? degree / 2 : degree);
  MemoryGraph graph = testing::RandomGraph(shape);
  if (undirected) {
    testing::MemoryEdges& edges = graph.edges[0];
    for (int64_t i = 0; i < shape.num_edges; ++i) {
      edges.sources.push_back(edges.targets[i]);
      edges.targets.push_back(edges.sources[i]);
    }
  }
  const SamplingSpec spec =
      Spec(graph.schema, {4, 3}, GENERATE(Expansion::kAllNodes, Expansion::kNewNodes), false);
  const TempDir dir;
  const std::unique_ptr<Dataset> dataset = Written(graph, InUserOrder(graph), dir);
  LinkSeeds seeds = CountEnds({0}, graph.edges[0].sources, {0}, graph.edges[0].targets);
  seeds.negatives_per_link = negatives;
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const VipScores scores,
      ComputeLinkVip(*dataset, {seeds}, AllOf(graph), Options(spec, 10), NoProgress()));
  double expected = 0;
  for (int64_t node = 0; node < shape.num_nodes; ++node) expected += scores.at({0}, {node}, 0);
  const double measured = MeasuredLinkRows(*dataset, graph, 10, negatives, spec, 400);
  CAPTURE(undirected, degree, negatives, static_cast<int>(spec.expansion), expected, measured);
  CHECK(std::abs(expected / measured - 1) < 0.015);
}

TEST_CASE("probabilities follow in-edges, not out-edges", "[vip]") {
  const MemoryGraph graph = Homogeneous(3, {{0, 1}, {1, 2}});
  const SamplingSpec spec = SamplingSpec::Uniform(graph.schema, {1, 1});
  CHECK(Scores(graph, {0}, {2}, Options(spec, 1)) == Probabilities{{1, 1, 1}});
  CHECK(Scores(graph, {0}, {0}, Options(spec, 1)) == Probabilities{{1, 0, 0}});
  CHECK(Scores(graph, {0}, {1}, Options(spec, 1)) == Probabilities{{1, 1, 0}});
}

TEST_CASE("extremes are ordinary", "[vip]") {
  const MemoryGraph graph = Homogeneous(4, {{0, 1}, {0, 1}, {2, 1}});  // node 3 is alone
  const auto scores = [&](std::vector<int64_t> seeds, int64_t batch, int64_t fanout) {
    return Scores(graph, {0}, seeds, Options(SamplingSpec::Uniform(graph.schema, {fanout}), batch));
  };
  CHECK(scores({1, 3}, 1000, kAllNeighbors) == Probabilities{{1, 1, 1, 1}});
  CHECK(scores({1, 3}, INT64_MAX, kMaxFanout) == Probabilities{{1, 1, 1, 1}});
  CHECK(scores({3}, 1, 5) == Probabilities{{0, 0, 0, 1}});  // no in-edges
  CHECK(scores({}, 1, 5) == Probabilities{{0, 0, 0, 0}});
  // Two edges from node 0, but both need node 1.
  CHECK(scores({1, 3}, 1, 3) == Probabilities{{0.5, 0.5, 0.5, 0.5}});
}

TEST_CASE("the coldest nodes keep their order", "[vip]") {
  // Hubs in a row: hub i's list is the next hub and 999 leaves, so each hop is 1000 times less
  // likely.
  constexpr int64_t kHubs = 7;
  std::vector<std::pair<int64_t, int64_t>> edges;
  int64_t next_leaf = kHubs;
  for (int64_t hub = 0; hub + 1 < kHubs; ++hub) {
    edges.push_back({hub + 1, hub});
    for (int i = 0; i < 999; ++i) edges.push_back({next_leaf++, hub});
  }
  const MemoryGraph graph = Homogeneous(next_leaf, edges);
  const SamplingSpec spec =
      Spec(graph.schema, std::vector<int64_t>(kHubs - 1, 1), Expansion::kNewNodes, false);
  const Probabilities found = Scores(graph, {0}, {0}, Options(spec, 1));
  for (int64_t hub = 0; hub < kHubs; ++hub) {
    CAPTURE(hub);
    CHECK(found[0][hub] == Approx(std::pow(1e-3, hub)).epsilon(1e-5));
  }
}

TEST_CASE("wrong questions are refused", "[vip]") {
  const MemoryGraph graph = Homogeneous(4, {{0, 1}});
  const TempDir dir;
  const std::unique_ptr<Dataset> dataset = Written(graph, Shuffled(graph, 2, 1), dir);
  const VipOptions good = Options(SamplingSpec::Uniform(graph.schema, {1}), 2);
  const auto status = [&](const VipOptions& options, std::vector<int64_t> seeds, int32_t type) {
    return ComputeVip(*dataset, {HomeSeeds{{type}, seeds}}, options, NoProgress()).status();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  VICINITY_CHECK_OK(status(good, {0, 1}, 0));
  VICINITY_CHECK_CODE(status(good, {0, 4}, 0), kInvalid);
  VICINITY_CHECK_CODE(status(good, {-1}, 0), kInvalid);
  VICINITY_CHECK_CODE(status(good, {1, 1}, 0), kInvalid);
  VICINITY_CHECK_CODE(status(good, {1}, 1), kInvalid);
  VICINITY_CHECK_CODE(status(good, {1}, -1), kInvalid);
  VICINITY_CHECK_CODE(status(Options(good.sampling, 0), {1}, 0), kInvalid);
  VICINITY_CHECK_CODE(status(Options(SamplingSpec(), 1), {1}, 0), kInvalid);
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores none, ComputeVip(*dataset, {}, good, NoProgress()));
  CHECK(none.num_homes == 0);

  Dataset::Options first;
  first.shards = {ShardId{0}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> half,
                                Dataset::Open(dir.File("graph"), first));
  VICINITY_CHECK_CODE(ComputeVip(*half, {}, good, NoProgress()),
                      absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("draws that targets share have the formula of those that each makes for itself",
          "[vip]") {
  const MemoryGraph graph = testing::RandomGraph({});
  VipOptions options = Options(SamplingSpec::Uniform(graph.schema, {3, 2}), 5);
  const std::vector<int64_t> seeds = {0, 3, 5, 9, 17, 31, 40};
  const Probabilities alone = Scores(graph, {0}, seeds, options);
  options.sampling.draws = Draws::kLabor;
  options.sampling.layer_dependency = true;
  CHECK(Scores(graph, {0}, seeds, options) == alone);
}

// Overwrites four bytes of the dataset file that shows `view`.
void Damage(const Dataset& dataset, const void* view) {
  const char* const position = static_cast<const char*>(view);
  for (const auto& file : dataset.shards()[0]->files()) {
    const std::string_view bytes = file->bytes();
    if (position < bytes.data() || position >= bytes.data() + bytes.size()) continue;
    std::fstream stream(file->path(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(position - bytes.data());
    stream.write("\xff\xff\xff\x7f", 4);
    REQUIRE(stream.good());
    return;
  }
  FAIL("no file shows this");
}

TEST_CASE("damaged edges are data loss, not a write outside of the scores", "[vip]") {
  const MemoryGraph graph = testing::RandomGraph({});
  const TempDir dir;
  const std::unique_ptr<Dataset> whole = Written(graph, InUserOrder(graph), dir);
  const EdgeTable& edges = whole->shards()[0]->edges({0});
  if (GENERATE(false, true)) {
    Damage(*whole, edges.sources.narrow() + 17);
  } else {
    Damage(*whole, &edges.offsets[40]);
  }
  Dataset::Options unchecked;
  unchecked.check_bytes = 0;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> damaged,
                                Dataset::Open(dir.File("graph"), unchecked));
  const VipOptions options = Options(SamplingSpec::Uniform(graph.schema, {3, 2}), 10);
  VICINITY_CHECK_CODE(ComputeVip(*damaged, {HomeSeeds{{0}, {1, 2, 3}}}, options, NoProgress()),
                      absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vicinity

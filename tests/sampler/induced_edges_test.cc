#include "sampler/induced_edges.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/excluded_edges.h"
#include "sampler/graph_builder.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/neighbor_source.h"
#include "sampler/one_hop.h"
#include "sampler/sampled_graph.h"
#include "tests/sampler/sampled_graphs.h"
#include "tests/sampler/stored_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::InEdge;
using testing::MemoryGraph;
using testing::Stored;

const MinibatchDraw kDraw = {7, 2, 5};

// Few nodes and many edges, so that any sample has parallel ones and loops.
MemoryGraph Homogeneous() {
  testing::RandomGraphOptions options;
  options.num_nodes = 60;
  options.num_edges = 900;
  options.weights = true;
  options.times = true;
  return testing::RandomGraph(options);
}

MemoryGraph Typed() { return testing::TypedGraph(60, 30, 10, 4); }

// What of one batch is asked for.
struct Batch {
  SamplingSpec spec;
  std::vector<TypedSeeds> seeds;  // global ids
  ExcludedEdges excluded{};
};

absl::StatusOr<SampledGraph> Sample(const Stored& stored, const Batch& batch,
                                    EdgeDetail detail = {true, true}) {
  LocalNeighborSource source(stored.dataset(), kDraw);
  MinibatchSampler sampler(stored.dataset().schema(), stored.dataset().book());
  return sampler.Sample(batch.spec, batch.seeds, detail, &source, batch.excluded);
}

SampledGraph SampleDrawn(const Stored& stored, Batch batch) {
  batch.spec.subgraph = Subgraph::kDirectional;
  VICINITY_ASSERT_OK_AND_ASSIGN(SampledGraph graph, Sample(stored, batch));
  return graph;
}

// An oracle that knows nothing of the sampler: goes through every list of the graph in memory.
class BruteForce {
 public:
  BruteForce(const MemoryGraph& memory, const Stored& stored, const Batch& batch)
      : memory_(memory), stored_(stored), batch_(batch) {}

  // The one hop that there is to be, without edge positions.
  std::string Describe(SampledGraph drawn) const {
    drawn.hops = {Blocks(drawn)};
    for (SampledNodes& nodes : drawn.nodes) {
      nodes.hop_ends = {nodes.hop_ends.front(), nodes.hop_ends.back()};
    }
    return testing::Describe(drawn);
  }

 private:
  using Places = std::map<std::pair<uint32_t, int64_t>, int32_t>;  // of (tree, position in memory)

  static uint32_t TreeOf(const SampledNodes& nodes, size_t i) {
    return nodes.trees.empty() ? 0 : nodes.trees[i];
  }

  std::vector<Block> Blocks(const SampledGraph& drawn) const {
    std::vector<Places> places(drawn.nodes.size());
    for (size_t type = 0; type < drawn.nodes.size(); ++type) {
      for (size_t i = 0; i < drawn.nodes[type].ids.size(); ++i) {
        const int64_t at = stored_.PositionOf(static_cast<int32_t>(type), drawn.nodes[type].ids[i]);
        places[type][{TreeOf(drawn.nodes[type], i), at}] = static_cast<int32_t>(i);
      }
    }
    std::vector<Block> blocks;
    for (int32_t type = 0; type < static_cast<int32_t>(memory_.schema.edge_types.size()); ++type) {
      const bool followed = batch_.spec.fanouts.empty() ||
                            std::any_of(batch_.spec.fanouts.begin(), batch_.spec.fanouts.end(),
                                        [type](const auto& fanouts) { return fanouts[type] != 0; });
      const EdgeTypeSpec& ends = memory_.schema.edge_types[type];
      if (!followed || drawn.nodes[ends.target_type].ids.empty()) continue;
      blocks.push_back(BlockOf(type, drawn.nodes[ends.target_type], places[ends.source_type]));
    }
    return blocks;
  }

  Block BlockOf(int32_t type, const SampledNodes& targets, const Places& sources) const {
    const EdgeTypeSpec& ends = memory_.schema.edge_types[type];
    const std::vector<std::vector<InEdge>> lists = memory_.InEdgesOfAll({type});
    Block block;
    block.edge_type = type;
    block.offsets = {0};
    for (size_t i = 0; i < targets.ids.size(); ++i) {
      const uint32_t tree = TreeOf(targets, i);
      for (const InEdge& edge : lists[stored_.PositionOf(ends.target_type, targets.ids[i])]) {
        const auto found = sources.find({tree, edge.source});
        if (found == sources.end() || IsOut(type, targets.ids[i], edge, tree)) continue;
        block.sources.push_back(found->second);
        block.edge_ids.push_back(edge.edge_id);
      }
      block.offsets.push_back(static_cast<int64_t>(block.sources.size()));
    }
    return block;
  }

  bool IsOut(int32_t type, int64_t target, const InEdge& edge, uint32_t tree) const {
    const EdgeTypeSpec& spec = memory_.schema.edge_types[type];
    const int64_t source = stored_.Ids(spec.source_type, {edge.source})[0];
    for (const ExcludedEdge& out : batch_.excluded.Of({type}, {target})) {
      if (out.source == source) return true;
    }
    const int column = batch_.spec.time_column.empty() ? -1 : spec.FindColumn("time");
    if (column < 0) return false;
    int64_t time = 0;
    std::memcpy(&time, memory_.edge_row({type}, column, edge.edge_id).data(), sizeof(time));
    return time > batch_.seeds[0].times[tree];
  }

  const MemoryGraph& memory_;
  const Stored& stored_;
  const Batch& batch_;
};

// That each edge is where its position says.
void CheckPositions(const Stored& stored, const SampledGraph& graph) {
  const Book& book = stored.dataset().book();
  for (const Block& block : graph.hops[0]) {
    REQUIRE(block.edge_positions.size() == block.sources.size());
    const NodeTypeId type{stored.dataset().schema().edge_types[block.edge_type].target_type};
    for (int64_t i = 0; i < block.num_targets(); ++i) {
      const ShardId owner = book.OwnerOf(type, {graph.nodes[type.value].ids[i]});
      const EdgeTable& edges = stored.dataset().shard(owner)->edges({block.edge_type});
      for (int64_t k = block.offsets[i]; k < block.offsets[i + 1]; ++k) {
        CHECK(edges.edge_ids[block.edge_positions[k]] == block.edge_ids[k]);
      }
    }
  }
}

int64_t CheckAgainstBruteForce(const MemoryGraph& memory, const Stored& stored, Batch batch) {
  batch.spec.subgraph = Subgraph::kInduced;
  const std::string expected =
      BruteForce(memory, stored, batch).Describe(SampleDrawn(stored, batch));
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph graph, Sample(stored, batch));
  CHECK(testing::Describe(graph) == expected);
  CheckPositions(stored, graph);
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph bare, Sample(stored, batch, {}));
  CHECK(bare.num_edges() == graph.num_edges());
  for (const Block& block : bare.hops[0]) {
    CHECK(block.edge_ids.empty());
    CHECK(block.edge_positions.empty());
  }
  return graph.num_edges();
}

TEST_CASE("an induced minibatch has the nodes that were drawn and all edges between them",
          "[induced_edges]") {
  const bool typed = GENERATE(false, true);
  const int32_t num_shards = GENERATE(1, 3);
  const MemoryGraph memory = typed ? Typed() : Homogeneous();
  const testing::TempDir dir;
  const Stored stored(memory, Shuffled(memory, num_shards, 9), dir.File("graph"));
  Batch batch;
  batch.seeds = {{NodeTypeId{0}, stored.Ids(0, {3, 17, 3, 50, 8})}};
  if (typed) batch.seeds.push_back({NodeTypeId{1}, stored.Ids(1, {2, 2, 29})});
  int64_t num_edges = 0;
  for (const std::vector<int64_t>& fanouts :
       {std::vector<int64_t>{3, 2}, {2, kAllNeighbors}, {1}, {4, 3, 2}}) {
    for (const bool disjoint : {false, true}) {
      for (const bool weighted : {false, true}) {
        batch.spec = SamplingSpec::Uniform(memory.schema, fanouts);
        batch.spec.disjoint = disjoint;
        if (weighted) batch.spec.weighted_by = "weight";
        batch.spec.replace = weighted;
        batch.spec.expansion = weighted ? Expansion::kNewNodes : Expansion::kAllNodes;
        num_edges += CheckAgainstBruteForce(memory, stored, batch);
        if (!typed) continue;
        batch.spec.fanouts.front()[1] = 0;  // of a type that one hop alone follows
        batch.spec.fanouts.back()[3] = 0;
        num_edges += CheckAgainstBruteForce(memory, stored, batch);
      }
    }
  }
  CHECK(num_edges > 300);
}

TEST_CASE("without hops an induced minibatch is of the seeds alone", "[induced_edges]") {
  const bool typed = GENERATE(false, true);
  const MemoryGraph memory = typed ? Typed() : Homogeneous();
  const testing::TempDir dir;
  const Stored stored(memory, Shuffled(memory, 3, 9), dir.File("graph"));
  Batch batch;
  batch.seeds = {{NodeTypeId{0}, stored.Ids(0, {3, 17, 3, 50, 8, 1, 40, 41, 42, 43})}};
  if (typed) batch.seeds.push_back({NodeTypeId{1}, stored.Ids(1, {2, 2, 29, 7, 8, 9})});
  batch.spec = SamplingSpec::Uniform(memory.schema, {1});
  SampledGraph drawn = SampleDrawn(stored, batch);
  for (SampledNodes& nodes : drawn.nodes) {  // forgets what the hop has met
    nodes.hop_ends = {nodes.hop_ends.front()};
    nodes.ids.resize(nodes.hop_ends.front());
  }
  batch.spec.fanouts.clear();
  batch.spec.subgraph = Subgraph::kInduced;
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph graph, Sample(stored, batch));
  CHECK(testing::Describe(graph) == BruteForce(memory, stored, batch).Describe(drawn));
  CHECK(graph.num_edges() > 0);
}

TEST_CASE("an induced tree has no edges that are later than its seed", "[induced_edges]") {
  const MemoryGraph memory = Homogeneous();
  const int32_t num_shards = GENERATE(1, 3);
  const testing::TempDir dir;
  const Stored stored(memory, Shuffled(memory, num_shards, 9), dir.File("graph"));
  Batch batch;
  batch.seeds = {{NodeTypeId{0}, stored.Ids(0, {3, 17, 3, 50, 8}), {0, 5, 3, -6, 2}}};
  batch.spec = SamplingSpec::Uniform(memory.schema, {5, 4});
  batch.spec.disjoint = true;
  batch.spec.time_column = "time";
  batch.spec.temporal_strategy = GENERATE(TemporalStrategy::kUniform, TemporalStrategy::kLast);
  const int64_t num_edges = CheckAgainstBruteForce(memory, stored, batch);
  batch.spec.temporal_strategy = TemporalStrategy::kUniform;
  batch.spec.time_column.clear();
  batch.seeds[0].times.clear();
  CHECK(num_edges < CheckAgainstBruteForce(memory, stored, batch));
}

TEST_CASE("excluded edges are not induced", "[induced_edges]") {
  const MemoryGraph memory = Homogeneous();
  const testing::TempDir dir;
  const Stored stored(memory, Shuffled(memory, 2, 9), dir.File("graph"));
  Batch batch;
  batch.seeds = {{NodeTypeId{0}, {}}, {NodeTypeId{0}, {}}};
  for (const size_t edge : {0, 10, 20, 30}) {
    const int64_t source = stored.Ids(0, {memory.edges[0].sources[edge]})[0];
    const int64_t target = stored.Ids(0, {memory.edges[0].targets[edge]})[0];
    batch.seeds[0].ids.push_back(source);
    batch.seeds[1].ids.push_back(target);
    batch.excluded.Add({0}, source, target);
  }
  batch.spec = SamplingSpec::Uniform(memory.schema, {4});
  batch.spec.disjoint = GENERATE(false, true);
  const int64_t less = CheckAgainstBruteForce(memory, stored, batch);
  batch.excluded = ExcludedEdges();
  const int64_t all = CheckAgainstBruteForce(memory, stored, batch);
  if (!batch.spec.disjoint) CHECK(less + 4 <= all);  // the ends are seeds, so these four at least
}

TEST_CASE("without seeds there is one hop of nothing", "[induced_edges]") {
  const MemoryGraph memory = Typed();
  const testing::TempDir dir;
  const Stored stored(memory, InUserOrder(memory), dir.File("graph"));
  Batch batch;
  batch.seeds = {{NodeTypeId{0}, {}}};
  batch.spec = SamplingSpec::Uniform(memory.schema, {4, 4});
  batch.spec.subgraph = Subgraph::kInduced;
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph graph, Sample(stored, batch));
  REQUIRE(graph.hops.size() == 1);
  CHECK(graph.hops[0].empty());
  for (const SampledNodes& nodes : graph.nodes) {
    CHECK(nodes.hop_ends == std::vector<int64_t>{0, 0});
  }
}

// Passes on, and sees what it brings.
class Watched : public NeighborSource {
 public:
  explicit Watched(NeighborSource* source) : source_(source) {}

  absl::Status Sample(int hop, absl::Span<const RelationRequest> relations,
                      absl::Span<Neighbors> neighbors) override {
    VICINITY_RETURN_IF_ERROR(source_->Sample(hop, relations, neighbors));
    size_t edges = 0;
    size_t targets = 0;
    for (size_t i = 0; i < relations.size(); ++i) {
      edges += neighbors[i].sources.size();
      targets = std::max(targets, relations[i].targets.size());
      for (const int64_t target : relations[i].targets) {
        CHECK(seen_.insert({relations[i].edge_type.value, target}).second);
      }
    }
    if (targets > 1) most_edges_of_several = std::max(most_edges_of_several, edges);
    ++num_calls;
    return absl::OkStatus();
  }
  absl::Status CountEdges(absl::Span<const RelationRequest> relations,
                          absl::Span<std::vector<int64_t>> degrees) override {
    return source_->CountEdges(relations, degrees);
  }

  size_t most_edges_of_several = 0;
  int num_calls = 0;

 private:
  NeighborSource* const source_;
  std::set<std::pair<int32_t, int64_t>> seen_;
};

// A star beside a random graph: node 0 has an edge from every node, three from node 1.
MemoryGraph WithHub() {
  testing::RandomGraphOptions options;
  options.num_nodes = 3000;
  options.num_edges = 9000;
  MemoryGraph memory = testing::RandomGraph(options);
  testing::MemoryEdges& edges = memory.edges[0];
  for (int64_t i = 0; i < 3000 + 2; ++i) {
    edges.sources.push_back(i < 3000 ? i : 1);
    edges.targets.push_back(0);
  }
  return memory;
}

TEST_CASE("in-edges come in pieces, each node's once, and the pieces do not show",
          "[induced_edges]") {
  const bool typed = GENERATE(false, true);
  const MemoryGraph memory = typed ? Typed() : WithHub();
  const testing::TempDir dir;
  const Stored stored(memory, Shuffled(memory, 2, 9), dir.File("graph"));
  Batch batch;
  batch.seeds = {{NodeTypeId{0}, stored.Ids(0, {0, 1, 30, 1})}};
  batch.spec = SamplingSpec::Uniform(memory.schema, {20, 5});
  batch.spec.disjoint = GENERATE(false, true);
  batch.spec.subgraph = Subgraph::kInduced;
  const SampledGraph drawn = SampleDrawn(stored, batch);
  const std::string expected = BruteForce(memory, stored, batch).Describe(drawn);
  int calls_before = 0;
  for (const int64_t edges_at_a_time : {int64_t{1} << 40, int64_t{100}, int64_t{20}, int64_t{1}}) {
    LocalNeighborSource local(stored.dataset(), kDraw);
    Watched source(&local);
    SampledGraph graph = drawn;
    VICINITY_REQUIRE_OK(InduceEdges(memory.schema, stored.dataset().book(),
                                    {batch.spec, true, batch.excluded, edges_at_a_time}, &source,
                                    &graph));
    CHECK(testing::Describe(graph) == expected);
    CHECK(static_cast<int64_t>(source.most_edges_of_several) <= edges_at_a_time);
    CHECK(source.num_calls > calls_before);
    calls_before = source.num_calls;
  }
}

// Answers that no source should give.
class Wrong : public NeighborSource {
 public:
  Wrong(Neighbors answer, std::vector<int64_t> degrees)
      : answer_(std::move(answer)), degrees_(std::move(degrees)) {}
  absl::Status Sample(int /*hop*/, absl::Span<const RelationRequest> /*relations*/,
                      absl::Span<Neighbors> neighbors) override {
    neighbors[0] = answer_;
    return absl::OkStatus();
  }
  absl::Status CountEdges(absl::Span<const RelationRequest> /*relations*/,
                          absl::Span<std::vector<int64_t>> degrees) override {
    if (degrees_.empty()) return absl::UnavailableError("shard 3");
    degrees[0] = degrees_;
    return absl::OkStatus();
  }

 private:
  const Neighbors answer_;
  const std::vector<int64_t> degrees_;
};

TEST_CASE("answers that do not fit are errors", "[induced_edges]") {
  const MemoryGraph memory = Homogeneous();
  const testing::TempDir dir;
  const Stored stored(memory, InUserOrder(memory), dir.File("graph"));
  SamplingSpec spec = SamplingSpec::Uniform(memory.schema, {1});
  const ExcludedEdges none;
  const auto induce = [&](Neighbors answer, std::vector<int64_t> degrees) {
    SampledGraph graph;
    graph.nodes.resize(1);
    graph.nodes[0].ids = {5, 6};
    graph.nodes[0].hop_ends = {2, 2};
    Wrong source(std::move(answer), std::move(degrees));
    return InduceEdges(memory.schema, stored.dataset().book(), {spec, true, none}, &source, &graph);
  };
  VICINITY_CHECK_OK(induce({{1, 1}, {6, 7}, {0, 1}, {}}, {1, 1}));
  VICINITY_CHECK_CODE(induce({}, {}), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(induce({}, {1}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(induce({{1}, {6}, {0}, {}}, {1, 1}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(induce({{1, 1}, {6, 7}, {}, {}}, {1, 1}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(induce({{1, 1}, {6}, {0}, {}}, {1, 1}), absl::StatusCode::kInvalidArgument);
  for (const int64_t beyond : {int64_t{60}, int64_t{-1}, (int64_t{1} << 32) + 6}) {
    VICINITY_CHECK_CODE(induce({{1, 1}, {6, beyond}, {0, 1}, {}}, {1, 1}),
                        absl::StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace vicinity

#include "sampler/minibatch_sampler.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/random.h"
#include "sampler/one_hop.h"
#include "sampler/sampled_graph.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr int64_t kNumNodes = 1000;

// Two node types, two edge types into the first, one into the second.
Schema SmallSchema() {
  Schema schema;
  schema.node_types.resize(2);
  schema.node_types[0].name = "a";
  schema.node_types[1].name = "b";
  schema.edge_types = {{0, "aa", 0, {}}, {1, "ba", 0, {}}, {0, "ab", 1, {}}};
  return schema;
}

Book SmallBook() {
  absl::StatusOr<Book> book = Book::Create({{0, kNumNodes}, {0, kNumNodes}});
  VICINITY_REQUIRE_OK(book);
  return *book;
}

// The neighbours of node v are v + 1 .. v + fanout; it writes down what it was asked.
class Successors : public NeighborSource {
 public:
  absl::Status Sample(int hop, absl::Span<const RelationRequest> relations,
                      absl::Span<Neighbors> neighbors) override {
    CHECK(relations.size() == neighbors.size());
    for (size_t i = 0; i < relations.size(); ++i) {
      std::string line =
          std::to_string(hop) + ":" + std::to_string(relations[i].edge_type.value) + ":";
      for (const int64_t target : relations[i].targets) {
        line += " " + std::to_string(target);
        neighbors[i].counts.push_back(static_cast<uint32_t>(relations[i].spec.fanout));
        for (int64_t j = 1; j <= relations[i].spec.fanout; ++j) {
          neighbors[i].sources.push_back(target + j);
          if (relations[i].detail.ids && !forget_edge_ids) neighbors[i].edge_ids.push_back(j);
        }
      }
      asked.push_back(line);
    }
    return hop == fail_at ? absl::UnavailableError("shard 3") : absl::OkStatus();
  }

  absl::Status CountEdges(absl::Span<const RelationRequest> relations,
                          absl::Span<std::vector<int64_t>> degrees) override {
    for (size_t i = 0; i < relations.size(); ++i) degrees[i].resize(relations[i].targets.size());
    return absl::OkStatus();
  }

  std::vector<std::string> asked;
  int fail_at = -1;
  bool forget_edge_ids = false;
};

SamplingSpec Spec(std::vector<std::vector<int64_t>> fanouts, Expansion expansion) {
  SamplingSpec spec;
  spec.fanouts = std::move(fanouts);
  spec.expansion = expansion;
  return spec;
}

TEST_CASE("a hop asks once for each edge type that has targets", "[minibatch_sampler]") {
  const Schema schema = SmallSchema();
  const Book book = SmallBook();
  MinibatchSampler sampler(schema, book);
  Successors source;
  SECTION("all nodes met so far are expanded") {
    const SamplingSpec spec = Spec({{1, 0, 2}, {0, 1, 1}, {1, 0, 1}}, Expansion::kAllNodes);
    VICINITY_REQUIRE_OK(sampler.Sample(spec, {0}, {10, 20}, false, &source));
    CHECK(source.asked == std::vector<std::string>{"0:0: 10 20", "1:1: 10 20 11 21",
                                                   "2:0: 10 20 11 21", "2:2: 11 21 12 22"});
  }
  SECTION("only new nodes are expanded") {
    const SamplingSpec spec = Spec({{1, 0, 2}, {0, 1, 1}, {1, 0, 1}}, Expansion::kNewNodes);
    VICINITY_REQUIRE_OK(sampler.Sample(spec, {0}, {10, 20}, false, &source));
    CHECK(source.asked == std::vector<std::string>{"0:0: 10 20", "1:1: 11 21", "2:2: 12 22"});
  }
}

TEST_CASE("a hop with nobody to expand asks nothing and is empty", "[minibatch_sampler]") {
  const Schema schema = SmallSchema();
  const Book book = SmallBook();
  MinibatchSampler sampler(schema, book);
  Successors source;
  const SamplingSpec spec = Spec({{1, 1, 1}, {1, 1, 1}}, Expansion::kAllNodes);
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph graph,
                                sampler.Sample(spec, {0}, {}, false, &source));
  CHECK(source.asked.empty());
  REQUIRE(graph.hops.size() == 2);
  CHECK(graph.hops[0].empty());
  CHECK(graph.hops[1].empty());
  CHECK(graph.nodes[0].hop_ends == std::vector<int64_t>{0, 0, 0});
}

TEST_CASE("an error of the source is passed up, and the next minibatch is whole",
          "[minibatch_sampler]") {
  const Schema schema = SmallSchema();
  const Book book = SmallBook();
  MinibatchSampler sampler(schema, book);
  const SamplingSpec spec = Spec({{1, 1, 1}, {2, 1, 1}}, Expansion::kAllNodes);
  Successors failing;
  failing.fail_at = GENERATE(0, 1);
  VICINITY_CHECK_CODE(sampler.Sample(spec, {0}, {1}, false, &failing),
                      absl::StatusCode::kUnavailable);
  Successors forgetful;
  forgetful.forget_edge_ids = true;
  VICINITY_CHECK_CODE(sampler.Sample(spec, {0}, {1}, true, &forgetful),
                      absl::StatusCode::kInvalidArgument);
  Successors source;
  VICINITY_ASSERT_OK_AND_ASSIGN(const SampledGraph graph,
                                sampler.Sample(spec, {0}, {1}, true, &source));
  CHECK(graph.nodes[0].ids == std::vector<int64_t>{1, 2, 3, 4});
  CHECK(graph.nodes[1].ids == std::vector<int64_t>{2, 3});
  CHECK(graph.hops[1][0].edge_ids == std::vector<int64_t>{1, 2, 1, 2});
}

TEST_CASE("a spec or a seed that does not fit is refused", "[minibatch_sampler]") {
  const Schema schema = SmallSchema();
  const Book book = SmallBook();
  MinibatchSampler sampler(schema, book);
  Successors source;
  for (const auto& fanouts : std::vector<std::vector<std::vector<int64_t>>>{
           {}, {{0, 0, 0}}, {{1, 1}}, {{1, 1, -2}}, {{1, 1, kMaxFanout + 1}}}) {
    VICINITY_CHECK_CODE(
        sampler.Sample(Spec(fanouts, Expansion::kAllNodes), {0}, {1}, false, &source),
        absl::StatusCode::kInvalidArgument);
  }
  VICINITY_CHECK_CODE(
      sampler.Sample(Spec({{1, 1, 1}}, Expansion::kAllNodes), {0}, {1, kNumNodes}, false, &source),
      absl::StatusCode::kInvalidArgument);
  // The neighbour of the last node is no node.
  VICINITY_CHECK_CODE(
      sampler.Sample(Spec({{1, 1, 1}}, Expansion::kAllNodes), {0}, {kNumNodes - 1}, false, &source),
      absl::StatusCode::kDataLoss);
}

TEST_CASE("every hop, edge type, batch, epoch and run has a stream of its own",
          "[minibatch_sampler]") {
  const DrawSpec spec{7, /*replace=*/true, /*weighted=*/true};
  const Schema schema = SmallSchema();
  const auto of = [&](const MinibatchDraw& draw, int hop, int32_t edge_type) {
    return OptionsOf(schema, draw, hop, EdgeTypeId{edge_type}, spec, {true, true});
  };
  const MinibatchDraw draw{1, 2, 3};
  const OneHopOptions options = of(draw, 4, 2);
  CHECK(options.fanout == 7);
  CHECK(options.replace);
  CHECK(options.want_edge_ids);
  CHECK(options.want_edge_positions);
  CHECK(options.weighted);
  CHECK(options.stream == StreamKey({1, 2, 3, 4, 2}));
  std::vector<uint64_t> streams = {options.stream, of({0, 2, 3}, 4, 2).stream,
                                   of({1, 0, 3}, 4, 2).stream, of({1, 2, 0}, 4, 2).stream,
                                   of(draw, 0, 2).stream};
  streams.push_back(of(draw, 4, 0).stream);
  for (size_t i = 0; i < streams.size(); ++i) {
    for (size_t j = 0; j < i; ++j) CHECK(streams[i] != streams[j]);
  }
}

TEST_CASE(
    "LABOR's stream is one for all edge types from a node type, and for as many hops and "
    "batches as depend on each other",
    "[minibatch_sampler]") {
  Schema schema = SmallSchema();
  schema.edge_types = {{0, "a", 0, {}}, {0, "b", 1, {}}, {1, "c", 0, {}}};
  DrawSpec spec{7};
  spec.labor = true;
  const auto of = [&](const MinibatchDraw& draw, int hop, int32_t edge_type) {
    return OptionsOf(schema, draw, hop, EdgeTypeId{edge_type}, spec, {}).stream;
  };
  const int32_t least = std::numeric_limits<int32_t>::min();
  CHECK(of({1, 2, 3}, 4, 0) == StreamKey({1, 2, 3, 4, least}));
  CHECK(of({1, 2, 3}, 4, 1) == StreamKey({1, 2, 3, 4, least}));
  CHECK(of({1, 2, 3}, 4, 2) == StreamKey({1, 2, 3, 4, least + 1}));
  spec.batch_dependency = 4;
  CHECK(of({1, 2, 4}, 0, 0) == of({1, 2, 7}, 0, 0));
  CHECK(of({1, 2, 3}, 0, 0) != of({1, 2, 4}, 0, 0));
  CHECK(of({1, 2, 7}, 0, 0) != of({1, 2, 8}, 0, 0));
  CHECK(of({1, 2, 4}, 0, 0) != of({1, 2, 4}, 1, 0));
  CHECK(of({1, 2, 4}, 0, 0) != of({1, 3, 4}, 0, 0));
  spec.layer_dependency = true;
  CHECK(of({1, 2, 4}, 0, 0) == of({1, 2, 5}, 3, 1));
  CHECK(of({1, 2, 4}, 0, 0) != of({1, 2, 8}, 0, 0));
  CHECK(of({1, 2, 4}, 0, 0) != of({2, 2, 4}, 0, 0));
  // Where all neighbours are taken nothing is drawn.
  spec.fanout = kAllNeighbors;
  CHECK(of({1, 2, 4}, 3, 1) == StreamKey({1, 2, 4, 3, 1}));
}

}  // namespace
}  // namespace vicinity

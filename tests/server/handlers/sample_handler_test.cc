#include "server/handlers/sample_handler.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/random.h"
#include "proto/service.pb.h"
#include "sampler/one_hop.h"
#include "sampler/relations/nonempty_cache.h"
#include "sampler/rules/draw_spec_proto.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using proto::SampleChunk;
using proto::SampleRequest;
using testing::Collect;
using testing::Packed;
using testing::Serving;
using testing::Unpacked;

Limits ChunksOf(int64_t bytes) {
  Limits limits;
  limits.max_chunk_bytes = bytes;
  return limits;
}

std::vector<uint64_t> AllRows(const Serving& serving, int32_t type, int32_t shard) {
  std::vector<uint64_t> rows(
      serving.dataset().shard(ShardId{shard})->nodes(NodeTypeId{type}).num_nodes());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// All edge types that end in users (0) and items (1) of shard 1, every node a target.
SampleRequest TypedRequest(const Serving& serving, int64_t fanout) {
  SampleRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_shard(1);
  request.mutable_draw()->set_run_seed(5);
  request.mutable_draw()->set_epoch(6);
  request.mutable_draw()->set_batch(7);
  request.mutable_draw()->set_hop(1);
  request.set_want_edge_ids(true);
  std::vector<uint64_t> targets = AllRows(serving, 0, 1);
  const size_t num_users = targets.size();
  const std::vector<uint64_t> items = AllRows(serving, 1, 1);
  targets.insert(targets.end(), items.begin(), items.end());
  request.set_targets(Packed(targets));
  const Schema& schema = serving.dataset().schema();
  for (size_t e = 0; e < schema.edge_types.size(); ++e) {
    const int32_t type = schema.edge_types[e].target_type;
    if (type > 1) continue;
    SampleRequest::Relation* relation = request.add_relations();
    relation->set_edge_type(static_cast<int32_t>(e));
    relation->mutable_spec()->set_fanout(fanout);
    relation->set_first_target(type == 0 ? 0 : num_users);
    relation->set_num_targets(type == 0 ? num_users : items.size());
  }
  return request;
}

// What the sampler itself draws for a relation of the request.
Neighbors Expected(const Serving& serving, const SampleRequest& request, int index) {
  const SampleRequest::Relation& relation = request.relations(index);
  const EdgeTypeId type{relation.edge_type()};
  const Shard& shard = *serving.dataset().shard(ShardId{request.shard()});
  const NodeTypeId target_type{serving.dataset().schema().edge_types[type.value].target_type};
  OneHopOptions options;
  VICINITY_ASSERT_OK_AND_ASSIGN(
      static_cast<DrawSpec&>(options),
      FromProto(relation.spec(), serving.dataset().schema().edge_types[type.value].columns));
  options.want_edge_ids = request.want_edge_ids();
  options.want_edge_positions = request.want_edge_positions();
  const std::vector<uint32_t> trees = Unpacked<uint32_t>(request.trees());
  if (!trees.empty()) {
    options.trees =
        absl::MakeConstSpan(trees).subspan(relation.first_target(), relation.num_targets());
  }
  options.stream = StreamKey({5, 6, 7, 1, type.value});
  const std::vector<uint64_t> targets = Unpacked<uint64_t>(request.targets());
  Neighbors neighbors;
  VICINITY_REQUIRE_OK(SampleOneHop(
      shard.edges(type), shard.nodes(target_type).keys,
      absl::MakeConstSpan(targets).subspan(relation.first_target(), relation.num_targets()),
      options, &neighbors));
  return neighbors;
}

// Puts the chunks of one relation together and checks their order and size on the way.
Neighbors Joined(const std::vector<SampleChunk>& chunks, uint32_t relation, size_t max_bytes) {
  Neighbors all;
  for (const SampleChunk& chunk : chunks) {
    if (chunk.relation() != relation) continue;
    const auto counts = Unpacked<uint32_t>(chunk.counts());
    const auto sources = Unpacked<int64_t>(chunk.sources());
    const auto edge_ids = Unpacked<int64_t>(chunk.edge_ids());
    REQUIRE_FALSE(counts.empty());
    CHECK(chunk.counts().size() + chunk.sources().size() + chunk.edge_ids().size() +
              chunk.edge_positions().size() <=
          max_bytes);
    CHECK(std::accumulate(counts.begin(), counts.end(), size_t{0}) == sources.size());
    size_t target = chunk.first_target();
    // The last target may go on.
    REQUIRE(target <= all.counts.size());
    REQUIRE(target + 1 >= all.counts.size());
    for (const uint32_t count : counts) {
      if (target == all.counts.size()) all.counts.push_back(0);
      all.counts[target++] += count;
    }
    all.sources.insert(all.sources.end(), sources.begin(), sources.end());
    all.edge_ids.insert(all.edge_ids.end(), edge_ids.begin(), edge_ids.end());
    const auto positions = Unpacked<int64_t>(chunk.edge_positions());
    all.edge_positions.insert(all.edge_positions.end(), positions.begin(), positions.end());
  }
  return all;
}

TEST_CASE("a reply does not show whether it was known which lists are empty", "[sample_handler]") {
  const int64_t chunk_bytes = GENERATE(int64_t{64}, int64_t{1000}, int64_t{262144});
  const int64_t fanout = GENERATE(int64_t{1}, int64_t{3}, kAllNeighbors);
  testing::RandomGraphOptions options;
  options.num_nodes = 300;
  options.num_edges = 900;
  testing::MemoryGraph graph = testing::RandomGraph(options);
  constexpr int kNumRelations = 30;
  testing::SplitEdges(kNumRelations, &graph);
  const Serving serving(std::move(graph), {}, ChunksOf(chunk_bytes));
  SampleRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_shard(1);
  request.set_want_edge_ids(true);
  const std::vector<uint64_t> rows = AllRows(serving, 0, 1);
  request.set_targets(Packed(rows));
  for (int type = 0; type < kNumRelations; ++type) {
    SampleRequest::Relation* const relation = request.add_relations();
    relation->set_edge_type(type);
    relation->mutable_spec()->set_fanout(fanout);
    relation->set_num_targets(rows.size());
  }
  std::vector<SampleChunk> expected;
  VICINITY_REQUIRE_OK(Collect(SampleNeighbors, serving.state(), request, &expected));

  NonemptyCache cache(serving.dataset().schema(), kDefaultNonemptyBytes);
  const Shard& shard = *serving.dataset().shard(ShardId{1});
  for (int i = 0; i < 2000 && cache.Find(shard, {0}, 1'000'000) == nullptr; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // it looks beside the calls
  }
  REQUIRE(cache.Find(shard, {0}, 0) != nullptr);
  ServerState state = serving.state();
  state.nonempty = &cache;
  std::vector<SampleChunk> chunks;
  VICINITY_REQUIRE_OK(Collect(SampleNeighbors, state, request, &chunks));
  REQUIRE(chunks.size() == expected.size());
  for (size_t i = 0; i < chunks.size(); ++i) {
    CHECK(chunks[i].SerializeAsString() == expected[i].SerializeAsString());
  }
}

TEST_CASE("chunks join to exactly what the sampler draws", "[sample_handler]") {
  const int64_t chunk_bytes = GENERATE(int64_t{64}, int64_t{100}, int64_t{1000}, int64_t{262144});
  const int64_t fanout = GENERATE(int64_t{1}, int64_t{3}, int64_t{50}, kAllNeighbors);
  const bool replace = GENERATE(false, true);
  const bool want_edge_ids = GENERATE(false, true);
  CAPTURE(chunk_bytes, fanout, replace, want_edge_ids);
  const Serving serving(testing::TypedGraph(40, 30, 20, 3), {}, ChunksOf(chunk_bytes));
  SampleRequest request = TypedRequest(serving, fanout);
  for (auto& relation : *request.mutable_relations()) relation.mutable_spec()->set_replace(replace);
  request.set_want_edge_ids(want_edge_ids);
  if (GENERATE(false, true)) {  // by weight where there is one, each target in a tree of its own
    request.set_want_edge_positions(true);
    request.mutable_relations(0)->mutable_spec()->set_weighted(true);
    std::vector<uint32_t> trees(request.targets().size() / 8);
    std::iota(trees.begin(), trees.end(), 5);
    request.set_trees(Packed(trees));
  }
  std::vector<SampleChunk> chunks;
  VICINITY_REQUIRE_OK(Collect(SampleNeighbors, serving.state(), request, &chunks));
  for (size_t i = 1; i < chunks.size(); ++i) {
    CHECK(chunks[i - 1].relation() <= chunks[i].relation());
  }
  for (int i = 0; i < request.relations_size(); ++i) {
    const Neighbors expected = Expected(serving, request, i);
    const Neighbors joined = Joined(chunks, i, chunk_bytes);
    CHECK(joined.counts == expected.counts);
    CHECK(joined.sources == expected.sources);
    CHECK(joined.edge_ids == expected.edge_ids);
    CHECK(joined.edge_positions == expected.edge_positions);
  }
}

TEST_CASE("all neighbours are all in-edges, in their order", "[sample_handler]") {
  const Serving serving(testing::RandomGraph({}), {}, ChunksOf(256));
  const NodeTypeId node{0};
  SampleRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_shard(2);
  request.set_want_edge_ids(true);
  const std::vector<uint64_t> rows = AllRows(serving, 0, 2);
  request.set_targets(Packed(rows));
  request.add_relations()->mutable_spec()->set_fanout(kAllNeighbors);
  request.mutable_relations(0)->set_num_targets(rows.size());
  std::vector<SampleChunk> chunks;
  VICINITY_REQUIRE_OK(Collect(SampleNeighbors, serving.state(), request, &chunks));
  const Neighbors joined = Joined(chunks, 0, 256);
  const auto in_edges = serving.graph().InEdgesOfAll(EdgeTypeId{0});
  const int64_t first = serving.dataset().book().First(node, ShardId{2}).value;
  size_t at = 0;
  REQUIRE(joined.counts.size() == rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const GlobalNode target{first + static_cast<int64_t>(rows[i])};
    const auto& expected = in_edges[serving.placement().PositionOf(node, target)];
    REQUIRE(joined.counts[i] == expected.size());
    for (const testing::InEdge& edge : expected) {
      CHECK(serving.placement().PositionOf(node, GlobalNode{joined.sources[at]}) == edge.source);
      CHECK(joined.edge_ids[at++] == edge.edge_id);
    }
  }
}

TEST_CASE("targets may repeat, and none at all is an answer too", "[sample_handler]") {
  const Serving serving(testing::RandomGraph({}));
  SampleRequest request;
  request.set_fingerprint(serving.fingerprint());
  std::vector<SampleChunk> chunks;
  VICINITY_CHECK_OK(Collect(SampleNeighbors, serving.state(), request, &chunks));
  request.add_relations()->mutable_spec()->set_fanout(2);
  VICINITY_CHECK_OK(Collect(SampleNeighbors, serving.state(), request, &chunks));
  CHECK(chunks.empty());
  request.set_targets(Packed<uint64_t>({3, 3, 3}));
  request.mutable_relations(0)->set_num_targets(3);
  VICINITY_CHECK_OK(Collect(SampleNeighbors, serving.state(), request, &chunks));
  REQUIRE(chunks.size() == 1);
  const auto counts = Unpacked<uint32_t>(chunks[0].counts());
  CHECK(counts == std::vector<uint32_t>(3, counts[0]));
}

TEST_CASE("a wrong sample request is refused before anything is sent", "[sample_handler]") {
  using Change = std::function<void(SampleRequest*)>;
  struct Bad {
    const char* what;
    Change change;
    absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  };
  Limits limits;
  limits.max_ids = 100;
  limits.max_sampled = 1000;
  const Serving serving(testing::TypedGraph(40, 30, 20, 3), {ShardId{1}}, limits);
  const std::vector<Bad> bad = {
      {"another dataset", [](SampleRequest* r) { r->set_fingerprint(r->fingerprint() ^ 1); },
       absl::StatusCode::kFailedPrecondition},
      {"no fingerprint", [](SampleRequest* r) { r->clear_fingerprint(); },
       absl::StatusCode::kFailedPrecondition},
      {"shard not served", [](SampleRequest* r) { r->set_shard(0); },
       absl::StatusCode::kFailedPrecondition},
      {"no such shard", [](SampleRequest* r) { r->set_shard(3); }},
      {"edges without weights drawn by weight",
       [](SampleRequest* r) { r->mutable_relations(1)->mutable_spec()->set_weighted(true); }},
      {"half an excluded edge", [](SampleRequest* r) { r->set_excluded_targets("abc"); }},
      {"excluded edges without sources", [](SampleRequest* r) { r->set_excluded_targets("abcd"); }},
      {"more excluded edges than there are",
       [](SampleRequest* r) { r->mutable_relations(0)->set_num_excluded(1); }},
      {"excluded edges that overflow",
       [](SampleRequest* r) {
         r->mutable_relations(0)->set_first_excluded(UINT32_MAX);
         r->mutable_relations(0)->set_num_excluded(UINT32_MAX);
       }},
      {"excluded edges of falling targets",
       [](SampleRequest* r) {
         r->set_excluded_targets(Packed<uint32_t>({1, 0}));
         r->set_excluded_sources(Packed<uint64_t>({1, 1}));
         r->mutable_relations(0)->set_num_excluded(2);
       }},
      {"excluded edges of targets beyond the relation's",
       [](SampleRequest* r) {
         r->set_excluded_targets(Packed<uint32_t>({r->relations(0).num_targets()}));
         r->set_excluded_sources(Packed<uint64_t>({1}));
         r->mutable_relations(0)->set_num_excluded(1);
       }},
      {"a time column that is not of times",
       [](SampleRequest* r) { r->mutable_relations(0)->mutable_spec()->set_time_column(1); }},
      {"no such time column",
       [](SampleRequest* r) { r->mutable_relations(0)->mutable_spec()->set_time_column(99); }},
      {"negative time column",
       [](SampleRequest* r) { r->mutable_relations(0)->mutable_spec()->set_time_column(-1); }},
      {"least time column",
       [](SampleRequest* r) {
         r->mutable_relations(0)->mutable_spec()->set_time_column(INT32_MIN);
       }},
      {"the last at no time",
       [](SampleRequest* r) { r->mutable_relations(0)->mutable_spec()->set_last(true); }},
      {"half a tree", [](SampleRequest* r) { r->set_trees("abc"); }},
      {"fewer trees than targets", [](SampleRequest* r) { r->set_trees("abcd"); }},
      {"negative shard", [](SampleRequest* r) { r->set_shard(INT32_MIN); }},
      {"fanout 0",
       [](SampleRequest* r) { r->mutable_relations(0)->mutable_spec()->set_fanout(0); }},
      {"fanout -2",
       [](SampleRequest* r) { r->mutable_relations(0)->mutable_spec()->set_fanout(-2); }},
      {"least fanout",
       [](SampleRequest* r) { r->mutable_relations(0)->mutable_spec()->set_fanout(INT64_MIN); }},
      {"huge fanout",
       [](SampleRequest* r) { r->mutable_relations(0)->mutable_spec()->set_fanout(INT64_MAX); }},
      {"fanout above the limit",
       [](SampleRequest* r) {
         r->mutable_relations(0)->mutable_spec()->set_fanout(kMaxFanout + 1);
       }},
      {"too many to sample",
       [](SampleRequest* r) { r->mutable_relations(0)->mutable_spec()->set_fanout(kMaxFanout); }},
      {"no such edge type", [](SampleRequest* r) { r->mutable_relations(0)->set_edge_type(99); }},
      {"negative edge type", [](SampleRequest* r) { r->mutable_relations(0)->set_edge_type(-1); }},
      {"edge type twice",
       [](SampleRequest* r) {
         r->mutable_relations(1)->set_edge_type(r->relations(0).edge_type());
       }},
      {"more relations than edge types",
       [](SampleRequest* r) {
         for (int i = 0; i < 1000; ++i) r->add_relations();
       }},
      {"targets that are not whole ids",
       [](SampleRequest* r) { r->mutable_targets()->push_back('x'); }},
      {"too many targets", [](SampleRequest* r) { r->mutable_targets()->resize(808); }},
      {"range past the end",
       [](SampleRequest* r) { r->mutable_relations(0)->set_num_targets(1000); }},
      {"range that overflows",
       [](SampleRequest* r) {
         r->mutable_relations(0)->set_first_target(UINT32_MAX);
         r->mutable_relations(0)->set_num_targets(UINT32_MAX);
       }},
      {"row out of range",
       [](SampleRequest* r) { r->mutable_targets()->replace(0, 8, Packed<uint64_t>({1000})); }},
      {"largest row",
       [](SampleRequest* r) {
         r->mutable_targets()->replace(0, 8, Packed<uint64_t>({UINT64_MAX}));
       }},
  };
  const SampleRequest good = TypedRequest(serving, 2);
  std::vector<SampleChunk> chunks;
  VICINITY_CHECK_OK(Collect(SampleNeighbors, serving.state(), good, &chunks));
  chunks.clear();
  for (const Bad& one : bad) {
    CAPTURE(one.what);
    SampleRequest request = good;
    one.change(&request);
    VICINITY_CHECK_CODE(Collect(SampleNeighbors, serving.state(), request, &chunks), one.code);
  }
  CHECK(chunks.empty());
}

TEST_CASE("ranges of targets are shared by type and never overlap", "[sample_handler]") {
  const Serving serving(testing::TypedGraph(40, 30, 20, 3));
  const SampleRequest good = TypedRequest(serving, 2);
  const Schema& schema = serving.dataset().schema();
  int users = -1;
  int items = -1;
  for (int i = 0; i < good.relations_size(); ++i) {
    (schema.edge_types[good.relations(i).edge_type()].target_type == 0 ? users : items) = i;
  }
  REQUIRE(users >= 0);
  REQUIRE(items >= 0);
  const uint32_t first_item = good.relations(items).first_target();
  std::vector<SampleChunk> chunks;

  SampleRequest overlapping = good;
  overlapping.mutable_relations(items)->set_first_target(first_item - 1);
  VICINITY_CHECK_CODE(Collect(SampleNeighbors, serving.state(), overlapping, &chunks),
                      absl::StatusCode::kInvalidArgument);

  SampleRequest shared = good;  // by users and items
  shared.mutable_relations(items)->set_first_target(0);
  shared.mutable_relations(items)->set_num_targets(good.relations(users).num_targets());
  VICINITY_CHECK_CODE(Collect(SampleNeighbors, serving.state(), shared, &chunks),
                      absl::StatusCode::kInvalidArgument);
  CHECK(chunks.empty());
}

TEST_CASE("a condition that the edge type's columns do not fit is refused by name",
          "[sample_handler]") {
  testing::RandomGraphOptions options;
  options.times = true;
  const Serving serving(testing::RandomGraph(options), {ShardId{0}});
  SampleRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_targets(Packed<uint64_t>({0, 1}));
  SampleRequest::Relation* const relation = request.add_relations();
  relation->mutable_spec()->set_fanout(3);
  relation->set_num_targets(2);
  proto::Condition::Term* const term = relation->mutable_spec()->mutable_where()->add_terms();
  term->set_op(proto::Condition::LESS);
  const auto status = [&] {
    std::vector<SampleChunk> chunks;
    return Collect(SampleNeighbors, serving.state(), request, &chunks);
  };
  VICINITY_CHECK_CODE(status(), absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status().message()),
             Catch::Contains("node:links:node") && Catch::Contains("column time"));
  term->add_whole(3);
  VICINITY_CHECK_OK(status());
  term->set_column(7);
  VICINITY_CHECK_CODE(status(), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("draws by time need a tree and its time for every target", "[sample_handler]") {
  testing::RandomGraphOptions options;
  options.times = true;
  const Serving serving(testing::RandomGraph(options), {ShardId{0}});
  SampleRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_targets(Packed<uint64_t>({0, 1}));
  SampleRequest::Relation* const relation = request.add_relations();
  relation->mutable_spec()->set_fanout(3);
  relation->mutable_spec()->set_time_column(1);
  relation->set_num_targets(2);
  const auto code = [&] {
    std::vector<SampleChunk> chunks;
    return Collect(SampleNeighbors, serving.state(), request, &chunks).code();
  };
  CHECK(code() == absl::StatusCode::kInvalidArgument);
  request.set_trees(Packed<uint32_t>({0, 1}));
  CHECK(code() == absl::StatusCode::kInvalidArgument);
  request.set_latest(Packed<int64_t>({5}));
  CHECK(code() == absl::StatusCode::kInvalidArgument);
  request.set_latest(Packed<int64_t>({5, -5}));
  CHECK(code() == absl::StatusCode::kOk);
  request.set_earliest(Packed<int64_t>({5}));
  CHECK(code() == absl::StatusCode::kInvalidArgument);
  request.set_earliest(Packed<int64_t>({6, INT64_MAX}));  // windows without a time
  CHECK(code() == absl::StatusCode::kOk);
  request.set_earliest("1234567812345678x");
  CHECK(code() == absl::StatusCode::kInvalidArgument);
  request.clear_earliest();
  relation->mutable_spec()->set_last(true);
  CHECK(code() == absl::StatusCode::kOk);
  relation->mutable_spec()->set_replace(true);
  CHECK(code() == absl::StatusCode::kInvalidArgument);
  relation->mutable_spec()->set_replace(false);
  relation->mutable_spec()->set_labor(true);
  CHECK(code() == absl::StatusCode::kInvalidArgument);
  relation->mutable_spec()->set_last(false);
  CHECK(code() == absl::StatusCode::kOk);
}

}  // namespace
}  // namespace vicinity

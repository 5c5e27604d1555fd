#include "server/handlers/walk_handler.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/book.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "proto/service.pb.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::Collect;
using testing::Packed;
using testing::Serving;
using testing::Unpacked;

// All chunks as one, which come in order.
absl::StatusOr<proto::WalkChunk> Answer(const ServerState& state,
                                        const proto::WalkRequest& request) {
  std::vector<proto::WalkChunk> chunks;
  VICINITY_RETURN_IF_ERROR(Collect(Walk, state, request, &chunks));
  proto::WalkChunk whole;
  for (const proto::WalkChunk& chunk : chunks) {
    CHECK(chunk.first() == whole.counts().size() / sizeof(uint32_t));
    whole.mutable_counts()->append(chunk.counts());
    whole.mutable_nodes()->append(chunk.nodes());
    whole.mutable_edge_ids()->append(chunk.edge_ids());
  }
  return whole;
}

// Of the only edge type, one walk from each of the rows.
proto::WalkRequest Request(const Serving& serving, int32_t shard,
                           const std::vector<uint64_t>& rows) {
  proto::WalkRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_shard(shard);
  request.add_metapath(0);
  request.set_length(4);
  request.set_want_edge_ids(true);
  std::vector<uint32_t> walks(rows.size());
  std::iota(walks.begin(), walks.end(), 0);
  request.set_walks(Packed(walks));
  request.set_steps(Packed(std::vector<uint32_t>(rows.size(), 0)));
  request.set_rows(Packed(rows));
  return request;
}

TEST_CASE("walks take edges of the graph until they leave the shard or end", "[walk_handler]") {
  testing::RandomGraphOptions options;
  options.num_edges = 300;  // some nodes have no in-edges
  const Serving serving(testing::RandomGraph(options));
  const Book& book = serving.dataset().book();
  const testing::MemoryEdges& edges = serving.graph().edges[0];
  const auto lists = serving.graph().InEdgesOfAll(EdgeTypeId{0});
  const NodeTypeId type{0};
  int64_t left = 0;
  int64_t ended = 0;
  for (int32_t shard = 0; shard < 3; ++shard) {
    const int64_t first = book.First(type, ShardId{shard}).value;
    std::vector<uint64_t> rows(book.num_nodes(type, ShardId{shard}));
    std::iota(rows.begin(), rows.end(), 0);
    const proto::WalkRequest request = Request(serving, shard, rows);
    VICINITY_ASSERT_OK_AND_ASSIGN(const proto::WalkChunk reply, Answer(serving.state(), request));
    const std::vector<uint32_t> counts = Unpacked<uint32_t>(reply.counts());
    const std::vector<int64_t> nodes = Unpacked<int64_t>(reply.nodes());
    const std::vector<int64_t> edge_ids = Unpacked<int64_t>(reply.edge_ids());
    REQUIRE(counts.size() == rows.size());
    REQUIRE(nodes.size() == edge_ids.size());
    CHECK(ReplyBytes(serving.state(), request) >=
          static_cast<int64_t>(reply.nodes().size() + reply.edge_ids().size() +
                               reply.counts().size()));
    size_t at = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      GlobalNode here{first + static_cast<int64_t>(rows[i])};
      for (uint32_t step = 0; step < counts[i]; ++step, ++at) {
        REQUIRE(book.OwnerOf(type, here).value == shard);
        CHECK(edges.targets[edge_ids[at]] == serving.placement().PositionOf(type, here));
        here = GlobalNode{nodes[at]};
        CHECK(edges.sources[edge_ids[at]] == serving.placement().PositionOf(type, here));
      }
      if (counts[i] == request.length()) continue;
      const bool is_here = book.OwnerOf(type, here).value == shard;
      left += is_here ? 0 : 1;
      ended += is_here ? 1 : 0;
      if (is_here) CHECK(lists[serving.placement().PositionOf(type, here)].empty());
    }
    CHECK(at == nodes.size());
  }
  CHECK(left > 20);
  CHECK(ended > 3);
}

TEST_CASE("an answer comes in chunks of whole walks, and is the same for any size of chunk",
          "[walk_handler]") {
  const Serving serving(testing::RandomGraph({}), {ShardId{0}});
  std::vector<uint64_t> rows(3000);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = i % 10;
  const proto::WalkRequest request = Request(serving, 0, rows);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::WalkChunk whole, Answer(serving.state(), request));
  // A walk of 4 steps with edge ids takes 68 bytes.
  const std::vector<std::pair<int64_t, size_t>> chunks_of_bytes = {{1, 3000}, {4096, 50}};
  for (const auto& [bytes, num_chunks] : chunks_of_bytes) {
    ServerState state = serving.state();
    state.limits.max_chunk_bytes = bytes;
    std::vector<proto::WalkChunk> chunks;
    VICINITY_REQUIRE_OK(Collect(Walk, state, request, &chunks));
    CHECK(chunks.size() == num_chunks);
    VICINITY_ASSERT_OK_AND_ASSIGN(const proto::WalkChunk same, Answer(state, request));
    CHECK(same.SerializeAsString() == whole.SerializeAsString());
  }
}

TEST_CASE("wrong requests for walks are refused", "[walk_handler]") {
  const Serving serving(testing::RandomGraph({}), {ShardId{0}});
  const ServerState& state = serving.state();
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  VICINITY_CHECK_OK(Answer(state, Request(serving, 0, {})));
  VICINITY_CHECK_OK(Answer(state, Request(serving, 0, {0, 0})));
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 1, {})),
                      absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 0, {UINT64_MAX})), kInvalid);
  const auto code = [&](auto change) {
    proto::WalkRequest request = Request(serving, 0, {0, 1});
    change(&request);
    CHECK(ReplyBytes(state, request) >= 0);
    return Answer(state, request).status();
  };
  using R = proto::WalkRequest;
  VICINITY_CHECK_CODE(code([](R* r) { r->clear_metapath(); }), kInvalid);
  VICINITY_CHECK_CODE(code([](R* r) { r->add_metapath(7); }), kInvalid);
  VICINITY_CHECK_CODE(code([](R* r) { r->set_length(0); }), kInvalid);
  VICINITY_CHECK_CODE(code([](R* r) { r->set_length(1 << 14); }), kInvalid);
  VICINITY_CHECK_CODE(code([](R* r) { r->set_length(UINT32_MAX); }), kInvalid);
  VICINITY_CHECK_CODE(code([](R* r) { r->set_weighted_by("cost"); }), kInvalid);
  VICINITY_CHECK_CODE(code([](R* r) { r->set_restart_prob(1); }), kInvalid);
  VICINITY_CHECK_CODE(code([](R* r) {
                        r->set_steps(Packed(std::vector<uint32_t>{0, 4}));
                      }),
                      kInvalid);
  VICINITY_CHECK_CODE(code([](R* r) { r->set_steps("12345678901"); }), kInvalid);
  VICINITY_CHECK_CODE(code([](R* r) { r->set_walks("1234"); }), kInvalid);
  VICINITY_CHECK_CODE(code([](R* r) { r->set_rows("1234"); }), kInvalid);
  const auto too_many = state.limits.max_ids / 16383 + 1;
  proto::WalkRequest large = Request(serving, 0, std::vector<uint64_t>(too_many, 0));
  large.set_length(16383);
  VICINITY_CHECK_CODE(Answer(state, large), kInvalid);
  CHECK(ReplyBytes(state, large) == 0);
}

TEST_CASE("a caller that is gone ends the walks", "[walk_handler]") {
  const Serving serving(testing::RandomGraph({}), {ShardId{0}});
  const proto::WalkRequest request = Request(serving, 0, {0});
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto source, Walk(serving.state(), request));
  proto::WalkChunk reply;
  VICINITY_CHECK_CODE(source->Next(&reply, [] { return true; }), absl::StatusCode::kCancelled);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto later, Walk(serving.state(), request));
  int looks = 0;
  VICINITY_CHECK_CODE(later->Next(&reply, [&] { return ++looks > 1; }),
                      absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace vicinity

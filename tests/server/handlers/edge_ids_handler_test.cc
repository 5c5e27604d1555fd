#include "server/handlers/edge_ids_handler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
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

absl::StatusOr<proto::EdgeIdsReply> Answer(const ServerState& state,
                                           const proto::EdgeIdsRequest& request) {
  std::vector<proto::EdgeIdsReply> replies;
  VICINITY_RETURN_IF_ERROR(Collect(FetchEdgeIds, state, request, &replies));
  REQUIRE(replies.size() == 1);
  return replies[0];
}

proto::EdgeIdsRequest Request(const Serving& serving, int32_t shard, int32_t edge_type,
                              const std::vector<uint64_t>& sources,
                              const std::vector<uint64_t>& targets) {
  proto::EdgeIdsRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_shard(shard);
  request.set_edge_type(edge_type);
  request.set_sources(Packed(sources));
  request.set_targets(Packed(targets));
  return request;
}

// Lists that are short, and long ones of two thousand edges, of which few or many sources are asked
// for: each is found in a way of its own.
testing::MemoryGraph ShortOrLongLists() {
  if (GENERATE(false, true)) return testing::TypedGraph(50, 40, 30, 3);
  testing::RandomGraphOptions options;
  options.num_nodes = 20;
  options.num_edges = 40'000;
  return testing::RandomGraph(options);
}

TEST_CASE("every pair has the first edge that the graph says joins it", "[edge_ids_handler]") {
  const testing::MemoryGraph graph = ShortOrLongLists();
  const Serving serving(graph);
  const Book& book = serving.dataset().book();
  const auto& edge_types = serving.graph().schema.edge_types;
  const uint64_t num_asked = GENERATE(uint64_t{5}, uint64_t{60});
  int64_t joined = 0;
  for (int32_t type = 0; type < static_cast<int32_t>(edge_types.size()); ++type) {
    const NodeTypeId source_type{edge_types[type].source_type};
    const NodeTypeId target_type{edge_types[type].target_type};
    const auto lists = serving.graph().InEdgesOfAll(EdgeTypeId{type});
    const std::vector<int64_t>& sources_order = serving.placement().order[source_type.value];
    const std::vector<int64_t>& targets_order = serving.placement().order[target_type.value];
    for (int32_t shard = 0; shard < 3; ++shard) {
      const int64_t first = book.First(target_type, ShardId{shard}).value;
      std::vector<uint64_t> sources;
      std::vector<uint64_t> targets;
      std::vector<int64_t> expected;
      for (int64_t row = book.num_nodes(target_type, ShardId{shard}) - 1; row >= 0; --row) {
        const auto& list = lists[targets_order[first + row]];
        for (uint64_t source = 0; source < num_asked; ++source) {
          sources.push_back(source);
          targets.push_back(static_cast<uint64_t>(row));
          const auto found = std::find_if(list.begin(), list.end(), [&](const auto& edge) {
            return source < sources_order.size() && edge.source == sources_order[source];
          });
          expected.push_back(found == list.end() ? -1 : found->edge_id);
          joined += found == list.end() ? 0 : 1;
        }
      }
      const proto::EdgeIdsRequest request = Request(serving, shard, type, sources, targets);
      VICINITY_ASSERT_OK_AND_ASSIGN(const proto::EdgeIdsReply reply,
                                    Answer(serving.state(), request));
      CHECK(Unpacked<int64_t>(reply.edge_ids()) == expected);
      CHECK(ReplyBytes(serving.state(), request) == static_cast<int64_t>(reply.edge_ids().size()));
    }
  }
  CHECK(joined > 20);
}

TEST_CASE("wrong requests for edge ids are refused", "[edge_ids_handler]") {
  const Serving serving(testing::RandomGraph({}), {ShardId{0}});
  const ServerState& state = serving.state();
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  VICINITY_CHECK_OK(Answer(state, Request(serving, 0, 0, {}, {})));
  VICINITY_CHECK_OK(Answer(state, Request(serving, 0, 0, {UINT64_MAX}, {0})));
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 0, 1, {0}, {0})), kInvalid);
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 0, -1, {0}, {0})), kInvalid);
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 0, 0, {0}, {UINT64_MAX})), kInvalid);
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 0, 0, {0, 1}, {0})), kInvalid);
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 1, 0, {}, {})),
                      absl::StatusCode::kFailedPrecondition);
  proto::EdgeIdsRequest torn = Request(serving, 0, 0, {}, {});
  torn.set_sources("123456789");
  VICINITY_CHECK_CODE(Answer(state, torn), kInvalid);
}

TEST_CASE("a caller that is gone ends the search", "[edge_ids_handler]") {
  const Serving serving(testing::RandomGraph({}), {ShardId{0}});
  const proto::EdgeIdsRequest request = Request(serving, 0, 0, {0}, {0});
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto source, FetchEdgeIds(serving.state(), request));
  proto::EdgeIdsReply reply;
  VICINITY_CHECK_CODE(source->Next(&reply, [] { return true; }), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace vicinity

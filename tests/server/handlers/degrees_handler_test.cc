#include "server/handlers/degrees_handler.h"

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

absl::StatusOr<proto::DegreesReply> Answer(const ServerState& state,
                                           const proto::DegreesRequest& request) {
  std::vector<proto::DegreesReply> replies;
  VICINITY_RETURN_IF_ERROR(Collect(FetchDegrees, state, request, &replies));
  REQUIRE(replies.size() == 1);
  return replies[0];
}

proto::DegreesRequest Request(const Serving& serving, int32_t shard, int32_t edge_type,
                              const std::vector<uint64_t>& targets) {
  proto::DegreesRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_shard(shard);
  request.set_edge_type(edge_type);
  request.set_targets(Packed(targets));
  return request;
}

TEST_CASE("every target of every edge type has the degree that the graph says",
          "[degrees_handler]") {
  const Serving serving(testing::TypedGraph(50, 40, 30, 3));
  const Book& book = serving.dataset().book();
  const auto& edge_types = serving.graph().schema.edge_types;
  for (int32_t type = 0; type < static_cast<int32_t>(edge_types.size()); ++type) {
    const NodeTypeId target{edge_types[type].target_type};
    const auto lists = serving.graph().InEdgesOfAll(EdgeTypeId{type});
    const std::vector<int64_t>& order = serving.placement().order[target.value];
    for (int32_t shard = 0; shard < 3; ++shard) {
      std::vector<uint64_t> targets;
      std::vector<int64_t> expected;
      const int64_t first = book.First(target, ShardId{shard}).value;
      // From the last to the first, and the first once more.
      for (int64_t row = book.num_nodes(target, ShardId{shard}) - 1; row >= 0; --row) {
        targets.push_back(static_cast<uint64_t>(row));
        expected.push_back(static_cast<int64_t>(lists[order[first + row]].size()));
      }
      if (!targets.empty()) {
        targets.push_back(targets.back());
        expected.push_back(expected.back());
      }
      const proto::DegreesRequest request = Request(serving, shard, type, targets);
      VICINITY_ASSERT_OK_AND_ASSIGN(const proto::DegreesReply reply,
                                    Answer(serving.state(), request));
      CHECK(Unpacked<int64_t>(reply.degrees()) == expected);
      CHECK(ReplyBytes(serving.state(), request) == static_cast<int64_t>(reply.degrees().size()));
    }
  }
}

TEST_CASE("wrong requests for degrees are refused", "[degrees_handler]") {
  const Serving serving(testing::RandomGraph({}), {ShardId{0}});
  const ServerState& state = serving.state();
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  VICINITY_CHECK_OK(Answer(state, Request(serving, 0, 0, {})));
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 0, 1, {0})), kInvalid);
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 0, -1, {0})), kInvalid);
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 0, 0, {UINT64_MAX})), kInvalid);
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 1, 0, {})),
                      absl::StatusCode::kFailedPrecondition);
  proto::DegreesRequest torn = Request(serving, 0, 0, {});
  torn.set_targets("123456789");
  VICINITY_CHECK_CODE(Answer(state, torn), kInvalid);
}

TEST_CASE("a caller that is gone ends the count", "[degrees_handler]") {
  const Serving serving(testing::RandomGraph({}), {ShardId{0}});
  const proto::DegreesRequest request = Request(serving, 0, 0, {0});
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto source, FetchDegrees(serving.state(), request));
  proto::DegreesReply reply;
  VICINITY_CHECK_CODE(source->Next(&reply, [] { return true; }), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace vicinity

#include "server/handlers/resolve_handler.h"

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

absl::StatusOr<proto::ResolveReply> Answer(const ServerState& state,
                                           const proto::ResolveRequest& request) {
  std::vector<proto::ResolveReply> replies;
  VICINITY_RETURN_IF_ERROR(Collect(ResolveKeys, state, request, &replies));
  REQUIRE(replies.size() == 1);
  return replies[0];
}

proto::ResolveRequest Request(const Serving& serving, int32_t shard, int32_t type,
                              const std::vector<uint64_t>& keys) {
  proto::ResolveRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_shard(shard);
  request.set_node_type(type);
  request.set_keys(Packed(keys));
  return request;
}

TEST_CASE("every key of the graph resolves to its node", "[resolve_handler]") {
  const Serving serving(testing::TypedGraph(50, 40, 30, 3));
  const Book& book = serving.dataset().book();
  size_t resolved = 0;
  for (int32_t type = 0; type < 3; ++type) {
    for (int32_t shard = 0; shard < 3; ++shard) {
      std::vector<uint64_t> keys;
      std::vector<int64_t> expected;
      const std::vector<int64_t>& order = serving.placement().order[type];
      for (size_t node = 0; node < order.size(); ++node) {
        const uint64_t key = serving.graph().nodes[type].keys[order[node]];
        if (book.DirectoryShard(key).value != shard) continue;
        keys.push_back(key);
        expected.push_back(static_cast<int64_t>(node));
      }
      VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ResolveReply reply,
                                    Answer(serving.state(), Request(serving, shard, type, keys)));
      CHECK(Unpacked<int64_t>(reply.global_ids()) == expected);
      resolved += keys.size();
    }
  }
  CHECK(resolved == 120);
}

TEST_CASE("unknown keys get an answer each, among known ones", "[resolve_handler]") {
  const Serving serving(testing::RandomGraph({}));
  const Book& book = serving.dataset().book();
  // Ids of a dense type are its keys: 0 .. 99 are there.
  std::vector<uint64_t> keys;
  std::vector<int64_t> expected;
  for (uint64_t key = 0; key < 400; ++key) {
    const uint64_t id = key < 390 ? key : UINT64_MAX - key;
    if (book.DirectoryShard(id).value != 1) continue;
    keys.push_back(id);
    int64_t node = -1;
    for (size_t i = 0; i < serving.placement().order[0].size(); ++i) {
      const int64_t position = serving.placement().order[0][i];
      if (serving.graph().nodes[0].keys[position] == id) node = static_cast<int64_t>(i);
    }
    expected.push_back(node);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ResolveReply reply,
                                Answer(serving.state(), Request(serving, 1, 0, keys)));
  CHECK(Unpacked<int64_t>(reply.global_ids()) == expected);
}

TEST_CASE("a key asked of the wrong shard is refused, not denied", "[resolve_handler]") {
  const Serving serving(testing::RandomGraph({}));
  const uint64_t key = serving.graph().nodes[0].keys[5];
  const int32_t right = serving.dataset().book().DirectoryShard(key).value;
  VICINITY_CHECK_OK(Answer(serving.state(), Request(serving, right, 0, {key})));
  VICINITY_CHECK_CODE(Answer(serving.state(), Request(serving, (right + 1) % 3, 0, {key})),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("wrong resolve requests are refused", "[resolve_handler]") {
  const Serving serving(testing::RandomGraph({}), {ShardId{0}});
  const ServerState& state = serving.state();
  const proto::ResolveRequest good = Request(serving, 0, 0, {});
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ResolveReply none, Answer(state, good));
  CHECK(none.global_ids().empty());
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 1, 0, {})),
                      absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(Answer(state, Request(serving, 0, 1, {})),
                      absl::StatusCode::kInvalidArgument);
  proto::ResolveRequest torn = good;
  torn.set_keys("123456789");
  VICINITY_CHECK_CODE(Answer(state, torn), absl::StatusCode::kInvalidArgument);
  proto::ResolveRequest other = good;
  other.set_fingerprint(0);
  VICINITY_CHECK_CODE(Answer(state, other), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a caller that is gone ends the search", "[resolve_handler]") {
  const Serving serving(testing::RandomGraph({}));
  const uint64_t key = serving.graph().nodes[0].keys[5];
  const int32_t shard = serving.dataset().book().DirectoryShard(key).value;
  const proto::ResolveRequest request = Request(serving, shard, 0, {key});
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto source, ResolveKeys(serving.state(), request));
  proto::ResolveReply reply;
  VICINITY_CHECK_CODE(source->Next(&reply, [] { return true; }).status(),
                      absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace vicinity

#include "server/resolve_handler.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "partition/book.h"
#include "proto/common/ids.h"
#include "proto/service.pb.h"
#include "tests/server/serving.h"
#include "tests/testing/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::Packed;
using testing::Serving;
using testing::Unpacked;

constexpr auto kStays = [] { return false; };

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
      VICINITY_ASSERT_OK_AND_ASSIGN(
          const proto::ResolveReply reply,
          ResolveKeys(serving.state(), Request(serving, shard, type, keys), kStays));
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
                                ResolveKeys(serving.state(), Request(serving, 1, 0, keys), kStays));
  CHECK(Unpacked<int64_t>(reply.global_ids()) == expected);
}

TEST_CASE("a key asked of the wrong shard is refused, not denied", "[resolve_handler]") {
  const Serving serving(testing::RandomGraph({}));
  const uint64_t key = serving.graph().nodes[0].keys[5];
  const int32_t right = serving.dataset().book().DirectoryShard(key).value;
  VICINITY_CHECK_OK(ResolveKeys(serving.state(), Request(serving, right, 0, {key}), kStays));
  VICINITY_CHECK_CODE(
      ResolveKeys(serving.state(), Request(serving, (right + 1) % 3, 0, {key}), kStays),
      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("wrong resolve requests are refused", "[resolve_handler]") {
  const Serving serving(testing::RandomGraph({}), {ShardId{0}});
  const ServerState& state = serving.state();
  const proto::ResolveRequest good = Request(serving, 0, 0, {});
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ResolveReply none, ResolveKeys(state, good, kStays));
  CHECK(none.global_ids().empty());
  VICINITY_CHECK_CODE(ResolveKeys(state, Request(serving, 1, 0, {}), kStays),
                      absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(ResolveKeys(state, Request(serving, 0, 1, {}), kStays),
                      absl::StatusCode::kInvalidArgument);
  proto::ResolveRequest torn = good;
  torn.set_keys("123456789");
  VICINITY_CHECK_CODE(ResolveKeys(state, torn, kStays), absl::StatusCode::kInvalidArgument);
  proto::ResolveRequest other = good;
  other.set_fingerprint(0);
  VICINITY_CHECK_CODE(ResolveKeys(state, other, kStays), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a caller that is gone ends the search", "[resolve_handler]") {
  const Serving serving(testing::RandomGraph({}));
  const uint64_t key = serving.graph().nodes[0].keys[5];
  const int32_t shard = serving.dataset().book().DirectoryShard(key).value;
  VICINITY_CHECK_CODE(
      ResolveKeys(serving.state(), Request(serving, shard, 0, {key}), [] { return true; }),
      absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace vicinity

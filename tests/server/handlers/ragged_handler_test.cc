#include "server/handlers/ragged_handler.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/service.pb.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using proto::RaggedChunk;
using proto::RaggedRequest;
using testing::Collect;
using testing::Packed;
using testing::Serving;

constexpr int32_t kUser = 0;
constexpr int32_t kItem = 1;
constexpr int32_t kTag = 2;

Limits SmallLimits(int64_t chunk_bytes) {
  Limits limits;
  limits.max_ids = 1000;
  limits.max_chunk_bytes = chunk_bytes;
  return limits;
}

// Of items of shard 1, without rows.
RaggedRequest RequestOf(const Serving& serving, int32_t column) {
  RaggedRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_shard(1);
  request.set_node_type(kItem);
  request.set_column(column + 1);
  return request;
}

// Takes the rows of a chunk apart, behind those before.
void AddRows(const RaggedChunk& chunk, std::vector<std::string>* rows) {
  CHECK(chunk.first() == rows->size());
  size_t at = 0;
  for (size_t i = 0; i < chunk.lengths().size(); i += sizeof(uint32_t)) {
    uint32_t length = 0;
    std::memcpy(&length, chunk.lengths().data() + i, sizeof(length));
    REQUIRE(at + length <= chunk.rows().size());
    rows->push_back(chunk.rows().substr(at, length));
    at += length;
  }
  CHECK(at == chunk.rows().size());
}

TEST_CASE("ragged rows and names come in the order asked for, whatever the chunks",
          "[ragged_handler]") {
  const int64_t chunk_bytes = GENERATE(int64_t{64}, int64_t{262144});
  const int32_t column = GENERATE(-1, 0, 1);
  const Serving serving(testing::TypedGraph(9, 60, 9, 3), {}, SmallLimits(chunk_bytes));
  const NodeTypeId item{kItem};
  RaggedRequest request = RequestOf(serving, column);
  const int64_t num_nodes = serving.dataset().shard(ShardId{1})->nodes(item).num_nodes();
  std::vector<uint64_t> asked;
  for (int64_t i = num_nodes - 1; i >= 0; --i) asked.push_back(i);
  asked.push_back(0);
  request.set_rows(Packed(asked));
  std::vector<RaggedChunk> chunks;
  VICINITY_REQUIRE_OK(Collect(FetchRagged, serving.state(), request, &chunks));
  std::vector<std::string> rows;
  for (const RaggedChunk& chunk : chunks) {
    const bool alone = chunk.lengths().size() == sizeof(uint32_t);
    CHECK((alone ||
           static_cast<int64_t>(chunk.lengths().size() + chunk.rows().size()) <= chunk_bytes));
    AddRows(chunk, &rows);
  }
  REQUIRE(rows.size() == asked.size());
  const int64_t first = serving.dataset().book().First(item, ShardId{1}).value;
  for (size_t i = 0; i < asked.size(); ++i) {
    CAPTURE(i);
    const int64_t position =
        serving.placement().PositionOf(item, {first + static_cast<int64_t>(asked[i])});
    CHECK(rows[i] == serving.graph().ragged_row(item, column, position));
  }
}

TEST_CASE("columns, types and rows that are not there are refused", "[ragged_handler]") {
  const Serving serving(testing::TypedGraph(9, 60, 9, 3), {ShardId{1}}, SmallLimits(64));
  constexpr auto kRefused = absl::StatusCode::kInvalidArgument;
  std::vector<RaggedChunk> chunks;
  const int32_t column = GENERATE(-1, 0);
  const RaggedRequest good = RequestOf(serving, column);
  VICINITY_CHECK_OK(Collect(FetchRagged, serving.state(), good, &chunks));
  // Users have no names, tags neither those nor ragged columns.
  for (const int32_t type : {column == kNamesColumn ? kUser : kTag, kTag, 3, -1}) {
    RaggedRequest request = good;
    request.set_node_type(type);
    VICINITY_CHECK_CODE(Collect(FetchRagged, serving.state(), request, &chunks), kRefused);
    CHECK(ReplyBytes(serving.state(), request) == 0);
  }
  for (const int32_t beyond : {3, INT32_MAX, -1, INT32_MIN}) {
    RaggedRequest request = good;
    request.set_column(beyond);
    VICINITY_CHECK_CODE(Collect(FetchRagged, serving.state(), request, &chunks), kRefused);
    CHECK(ReplyBytes(serving.state(), request) == 0);
  }
  for (const std::string& rows : {Packed<uint64_t>({60}), std::string("123")}) {
    RaggedRequest request = good;
    request.set_rows(rows);
    VICINITY_CHECK_CODE(Collect(FetchRagged, serving.state(), request, &chunks), kRefused);
  }
  RaggedRequest elsewhere = good;
  elsewhere.set_shard(0);
  VICINITY_CHECK_CODE(Collect(FetchRagged, serving.state(), elsewhere, &chunks),
                      absl::StatusCode::kFailedPrecondition);
  CHECK(chunks.empty());
}

TEST_CASE("a reply is taken to be as long as the shard's rows are on average", "[ragged_handler]") {
  const Serving serving(testing::TypedGraph(9, 60, 9, 3), {}, SmallLimits(262144));
  RaggedRequest request = RequestOf(serving, 0);
  const RaggedView& words = serving.dataset().shard(ShardId{1})->nodes(NodeTypeId{kItem}).ragged[0];
  const int64_t num_rows = static_cast<int64_t>(words.offsets.size()) - 1;
  REQUIRE(num_rows > 0);
  request.set_rows(Packed<uint64_t>({0, 0, 0}));
  const int64_t mean = static_cast<int64_t>(words.bytes.size()) / num_rows;
  CHECK(ReplyBytes(serving.state(), request) == 3 * (mean + 4));
}

}  // namespace
}  // namespace vicinity

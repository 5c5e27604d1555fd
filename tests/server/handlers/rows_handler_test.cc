#include "server/handlers/rows_handler.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"
#include "proto/narrow_floats.h"
#include "proto/service.pb.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using proto::RowsChunk;
using proto::RowsRequest;
using testing::Collect;
using testing::Packed;
using testing::Serving;

constexpr int32_t kUser = 0;
constexpr int32_t kItem = 1;

Limits SmallLimits(int64_t chunk_bytes) {
  Limits limits;
  limits.max_ids = 1000;
  limits.max_chunk_bytes = chunk_bytes;
  return limits;
}

// The shard's row of a node in the user's list.
std::string_view ExpectedRow(const Serving& serving, int32_t shard, int32_t type, int32_t column,
                             uint64_t row) {
  const NodeTypeId node_type{type};
  const GlobalNode node{serving.dataset().book().First(node_type, ShardId{shard}).value +
                        static_cast<int64_t>(row)};
  const int64_t position = serving.placement().PositionOf(node_type, node);
  if (column >= 0) return serving.graph().row(node_type, column, position);
  const uint64_t& key = serving.graph().nodes[type].keys[position];
  return {reinterpret_cast<const char*>(&key), sizeof(key)};
}

// Puts chunks together; each follows the one before and is within its size.
std::string Joined(const std::vector<RowsChunk>& chunks, size_t row_bytes, size_t max_bytes) {
  std::string all;
  for (const RowsChunk& chunk : chunks) {
    CHECK(chunk.first() * row_bytes == all.size());
    CHECK(chunk.rows().size() <= std::max(max_bytes, row_bytes));
    CHECK_FALSE(chunk.rows().empty());
    all += chunk.rows();
  }
  return all;
}

RowsRequest Request(const Serving& serving, int32_t shard, int32_t type, int32_t column) {
  RowsRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_shard(shard);
  request.set_node_type(type);
  request.set_column(column);
  return request;
}

TEST_CASE("rows come in the order asked for, whatever the chunks", "[rows_handler]") {
  const int64_t chunk_bytes = GENERATE(int64_t{64}, int64_t{65}, int64_t{128}, int64_t{262144});
  CAPTURE(chunk_bytes);
  const Serving serving(testing::TypedGraph(90, 30, 20, 3), {}, SmallLimits(chunk_bytes));
  const int32_t shard = 1;
  const int64_t num_nodes =
      serving.dataset().shard(ShardId{shard})->nodes(NodeTypeId{kUser}).num_nodes();
  std::vector<uint64_t> rows;
  for (int64_t i = num_nodes - 1; i >= 0; i -= 2) rows.push_back(i);
  rows.insert(rows.end(), {0, 0, 5, 0});
  for (int32_t column = -1; column < 3; ++column) {
    CAPTURE(column);
    RowsRequest request = Request(serving, shard, kUser, column);
    request.set_rows(Packed(rows));
    std::vector<RowsChunk> chunks;
    VICINITY_REQUIRE_OK(Collect(FetchRows, serving.state(), request, &chunks));
    std::string expected;
    for (const uint64_t row : rows) expected += ExpectedRow(serving, shard, kUser, column, row);
    CHECK(Joined(chunks, expected.size() / rows.size(), chunk_bytes) == expected);
  }
}

TEST_CASE("rows of edges are asked for by their positions", "[rows_handler]") {
  const Serving serving(testing::TypedGraph(90, 30, 20, 3), {}, SmallLimits(64));
  const EdgeTable& edges = serving.dataset().shard(ShardId{1})->edges(EdgeTypeId{0});
  RowsRequest request = Request(serving, 1, 0, 0);
  request.set_of_edges(true);
  std::vector<uint64_t> positions;
  for (int64_t i = edges.num_edges() - 1; i >= 0; i -= 3) positions.push_back(i);
  request.set_rows(Packed(positions));
  std::vector<RowsChunk> chunks;
  VICINITY_REQUIRE_OK(Collect(FetchRows, serving.state(), request, &chunks));
  const std::string all = Joined(chunks, 4, 64);
  REQUIRE(all.size() == 4 * positions.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    CHECK(all.substr(4 * i, 4) ==
          serving.graph().edge_row(EdgeTypeId{0}, 0, edges.edge_ids[positions[i]]));
  }

  chunks.clear();
  request.set_rows(Packed<uint64_t>({static_cast<uint64_t>(edges.num_edges())}));
  VICINITY_CHECK_CODE(Collect(FetchRows, serving.state(), request, &chunks),
                      absl::StatusCode::kInvalidArgument);
  request.clear_rows();
  request.set_column(-1);  // edges have no keys
  VICINITY_CHECK_CODE(Collect(FetchRows, serving.state(), request, &chunks),
                      absl::StatusCode::kInvalidArgument);
  request.set_column(0);
  request.set_node_type(99);
  VICINITY_CHECK_CODE(Collect(FetchRows, serving.state(), request, &chunks),
                      absl::StatusCode::kInvalidArgument);
  CHECK(chunks.empty());
}

TEST_CASE("a range of rows is that range", "[rows_handler]") {
  const Serving serving(testing::TypedGraph(90, 30, 20, 3), {}, SmallLimits(64));
  const int64_t num_nodes =
      serving.dataset().shard(ShardId{2})->nodes(NodeTypeId{kUser}).num_nodes();
  const auto [first, count] = GENERATE_REF(std::pair<int64_t, int64_t>{0, num_nodes},
                                           std::pair<int64_t, int64_t>{num_nodes - 1, 1},
                                           std::pair<int64_t, int64_t>{3, num_nodes - 4});
  CAPTURE(first, count);
  RowsRequest request = Request(serving, 2, kUser, 0);
  request.set_first(first);
  request.set_count(count);
  std::vector<RowsChunk> chunks;
  VICINITY_REQUIRE_OK(Collect(FetchRows, serving.state(), request, &chunks));
  std::string expected;
  for (int64_t i = first; i < first + count; ++i) {
    expected += ExpectedRow(serving, 2, kUser, 0, i);
  }
  CHECK(Joined(chunks, expected.size() / count, 64) == expected);
}

TEST_CASE("no rows are an empty answer", "[rows_handler]") {
  const Serving serving(testing::TypedGraph(9, 9, 9, 3));
  std::vector<RowsChunk> chunks;
  VICINITY_CHECK_OK(Collect(FetchRows, serving.state(), Request(serving, 0, kUser, 0), &chunks));
  CHECK(chunks.empty());
}

TEST_CASE("rows of a column without values come as so many empty rows", "[rows_handler]") {
  const Serving serving(testing::TypedGraph(90, 30, 20, 3), {}, SmallLimits(64));
  const NodeTypeSpec& item = serving.dataset().schema().node_types[kItem];
  int32_t empty = -1;
  for (size_t c = 0; c < item.columns.size(); ++c) {
    if (item.columns[c].row_bytes() == 0) empty = static_cast<int32_t>(c);
  }
  REQUIRE(empty >= 0);
  RowsRequest request = Request(serving, 0, kItem, empty);
  request.set_rows(Packed<uint64_t>({0, 1, 2}));
  std::vector<RowsChunk> chunks;
  VICINITY_REQUIRE_OK(Collect(FetchRows, serving.state(), request, &chunks));
  REQUIRE(chunks.size() == 1);
  CHECK(chunks[0].rows().empty());
}

TEST_CASE("rows of float32 are narrowed if asked for, in lists and ranges", "[rows_handler]") {
  const proto::Precision precision = GENERATE(proto::PRECISION_FLOAT16, proto::PRECISION_BFLOAT16);
  const bool range = GENERATE(false, true);
  const Serving serving(testing::TypedGraph(90, 30, 20, 3), {}, SmallLimits(64));
  RowsRequest request = Request(serving, 1, kUser, 0);
  request.set_precision(precision);
  if (range) {
    request.set_first(2);
    request.set_count(13);
  } else {
    request.set_rows(Packed<uint64_t>({2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
  }
  std::vector<RowsChunk> chunks;
  VICINITY_REQUIRE_OK(Collect(FetchRows, serving.state(), request, &chunks));
  std::string expected;
  for (uint64_t row = 2; row < 15; ++row) {
    const std::string_view floats = ExpectedRow(serving, 1, kUser, 0, row);
    std::string halves(floats.size() / 2, '-');
    NarrowFloats(precision, floats.data(), floats.size() / 4, &halves[0]);
    expected += halves;
  }
  CHECK(Joined(chunks, expected.size() / 13, 64) == expected);
  CHECK(chunks.size() == 3);  // six rows of 10 bytes fit into one
  for (const RowsChunk& chunk : chunks) CHECK(chunk.precision() == precision);
}

TEST_CASE("what is not of float32 is not narrowed, nor anything in ways that are not there",
          "[rows_handler]") {
  const Serving serving(testing::TypedGraph(90, 30, 20, 3), {}, SmallLimits(64));
  std::vector<RowsChunk> chunks;
  const auto refused = [&](int32_t type, int32_t column, int precision) {
    CAPTURE(type, column, precision);
    RowsRequest request = Request(serving, 0, type, column);
    request.set_rows(Packed<uint64_t>({0}));
    request.set_precision(static_cast<proto::Precision>(precision));
    VICINITY_CHECK_CODE(Collect(FetchRows, serving.state(), request, &chunks),
                        absl::StatusCode::kInvalidArgument);
  };
  for (const int precision : {proto::PRECISION_FLOAT16, proto::PRECISION_BFLOAT16}) {
    refused(kUser, 1, precision);   // int32
    refused(kUser, -1, precision);  // keys
    refused(kItem, 0, precision);   // float16
    refused(kItem, 1, precision);   // float64
  }
  refused(kUser, 0, 3);
  refused(kUser, 0, -1);
  CHECK(chunks.empty());
}

TEST_CASE("a wrong rows request is refused before anything is sent", "[rows_handler]") {
  struct Bad {
    const char* what;
    std::function<void(RowsRequest*)> change;
    absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  };
  const Serving serving(testing::TypedGraph(90, 30, 20, 3), {ShardId{0}, ShardId{1}},
                        SmallLimits(64));
  const std::vector<Bad> bad = {
      {"another dataset", [](RowsRequest* r) { r->set_fingerprint(1); },
       absl::StatusCode::kFailedPrecondition},
      {"shard not served", [](RowsRequest* r) { r->set_shard(2); },
       absl::StatusCode::kFailedPrecondition},
      {"no such shard", [](RowsRequest* r) { r->set_shard(7); }},
      {"no such type", [](RowsRequest* r) { r->set_node_type(3); }},
      {"negative type", [](RowsRequest* r) { r->set_node_type(-1); }},
      {"no such column", [](RowsRequest* r) { r->set_column(3); }},
      {"column -2", [](RowsRequest* r) { r->set_column(-2); }},
      {"row out of range",
       [](RowsRequest* r) {
         r->set_rows(Packed<uint64_t>({0, 90}));
       }},
      {"largest row", [](RowsRequest* r) { r->set_rows(Packed<uint64_t>({UINT64_MAX})); }},
      {"half an id", [](RowsRequest* r) { r->set_rows("1234"); }},
      {"too many rows",
       [](RowsRequest* r) { r->set_rows(Packed(std::vector<uint64_t>(1001, 0))); }},
      {"range and list", [](RowsRequest* r) { r->set_count(1); }},
      {"range past the end",
       [](RowsRequest* r) {
         r->clear_rows();
         r->set_count(91);
       }},
      {"range that overflows",
       [](RowsRequest* r) {
         r->clear_rows();
         r->set_first(UINT64_MAX);
         r->set_count(2);
       }},
      {"range of everything",
       [](RowsRequest* r) {
         r->clear_rows();
         r->set_first(1);
         r->set_count(UINT64_MAX);
       }},
  };
  RowsRequest good = Request(serving, 0, kUser, 0);
  good.set_rows(Packed<uint64_t>({0, 1}));
  std::vector<RowsChunk> chunks;
  VICINITY_CHECK_OK(Collect(FetchRows, serving.state(), good, &chunks));
  chunks.clear();
  for (const Bad& one : bad) {
    CAPTURE(one.what);
    RowsRequest request = good;
    one.change(&request);
    VICINITY_CHECK_CODE(Collect(FetchRows, serving.state(), request, &chunks), one.code);
  }
  CHECK(chunks.empty());
}

}  // namespace
}  // namespace vicinity

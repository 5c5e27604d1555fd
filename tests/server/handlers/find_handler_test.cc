#include "server/handlers/find_handler.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/limits.h"
#include "proto/service.pb.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using proto::Condition;
using proto::FindChunk;
using proto::FindRequest;
using testing::Collect;
using testing::Serving;

constexpr int32_t kUser = 0;
constexpr int32_t kItem = 1;
constexpr int32_t kPrice = 1;  // of items, float64

Limits SmallLimits(int64_t chunk_bytes) {
  Limits limits;
  limits.max_ids = 1000;
  limits.max_chunk_bytes = chunk_bytes;
  return limits;
}

// Items of shard 1 whose price is at least so much, not one of them looked at.
FindRequest RequestOf(const Serving& serving, double least) {
  FindRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_shard(1);
  request.set_type(kItem);
  Condition::Term* const term = request.mutable_where()->add_terms();
  term->set_op(Condition::GREATER_EQUAL);
  term->set_column(kPrice);
  term->add_real(least);
  return request;
}

double PriceOf(const Serving& serving, int64_t row) {
  const NodeTypeId item{kItem};
  const int64_t first = serving.dataset().book().First(item, ShardId{1}).value;
  double price = 0;
  std::memcpy(
      &price,
      serving.graph().row(item, kPrice, serving.placement().PositionOf(item, {first + row})).data(),
      sizeof(price));
  return price;
}

TEST_CASE("found rows rise, whatever the chunks, and all of the range are looked at",
          "[find_handler]") {
  const int64_t chunk_bytes = GENERATE(int64_t{64}, int64_t{262144});
  const int64_t first = GENERATE(int64_t{0}, int64_t{2});
  const Serving serving(testing::TypedGraph(9, 60, 9, 3), {}, SmallLimits(chunk_bytes));
  const int64_t num_items = serving.dataset().shard(ShardId{1})->nodes({kItem}).num_nodes();
  REQUIRE(num_items > 3);
  const double least = PriceOf(serving, num_items / 2);
  FindRequest request = RequestOf(serving, least);
  request.set_first(first);
  request.set_count(num_items - first);
  std::vector<FindChunk> chunks;
  VICINITY_REQUIRE_OK(Collect(FindRows, serving.state(), request, &chunks));
  std::vector<int64_t> expected;
  for (int64_t row = first; row < num_items; ++row) {
    if (PriceOf(serving, row) >= least) expected.push_back(row);
  }
  REQUIRE(!expected.empty());
  std::vector<int64_t> rows;
  uint64_t read = 0;
  for (const FindChunk& chunk : chunks) {
    CHECK(static_cast<int64_t>(chunk.rows().size()) <= chunk_bytes);
    const size_t before = rows.size();
    rows.resize(before + chunk.rows().size() / sizeof(int64_t));
    std::memcpy(rows.data() + before, chunk.rows().data(), chunk.rows().size());
    read += chunk.rows_read();
  }
  CHECK(rows == expected);
  CHECK(read == request.count());
  CHECK(chunks.back().looked() == request.count());
}

TEST_CASE("a condition, a range or a type that cannot be is refused", "[find_handler]") {
  const Serving serving(testing::TypedGraph(9, 60, 9, 3), {ShardId{1}}, SmallLimits(64));
  constexpr auto kRefused = absl::StatusCode::kInvalidArgument;
  const FindRequest good = RequestOf(serving, 1);
  std::vector<FindChunk> chunks;
  VICINITY_CHECK_OK(Collect(FindRows, serving.state(), good, &chunks));
  CHECK(chunks.empty());  // it looks at no rows
  const auto refused = [&](const FindRequest& request) {
    VICINITY_CHECK_CODE(Collect(FindRows, serving.state(), request, &chunks), kRefused);
  };
  FindRequest bad = good;
  bad.clear_where();
  refused(bad);
  for (const int32_t type : {kUser, 3, -1, INT32_MAX}) {  // users' column 1 is of integers
    bad = good;
    bad.set_type(type);
    refused(bad);
    CHECK(ReplyBytes(serving.state(), bad) == 0);
    bad.set_of_edges(true);
    refused(bad);
    CHECK(ReplyBytes(serving.state(), bad) == 0);
  }
  for (const int32_t column : {-1, 0, 99}) {  // column 0 has six values a row
    bad = good;
    bad.mutable_where()->mutable_terms(0)->set_column(column);
    refused(bad);
  }
  bad = good;
  *bad.mutable_where()->add_terms() = good.where().terms(0);  // two answers
  refused(bad);
  for (const uint64_t first : {uint64_t{60}, UINT64_MAX}) {
    bad = good;
    bad.set_first(first);
    bad.set_count(1);
    refused(bad);
  }
  for (const uint64_t count : {uint64_t{60}, uint64_t{kMaxRequestLooked} + 1, UINT64_MAX}) {
    bad = good;
    bad.set_count(count);
    refused(bad);
  }
  FindRequest elsewhere = good;
  elsewhere.set_shard(0);
  VICINITY_CHECK_CODE(Collect(FindRows, serving.state(), elsewhere, &chunks),
                      absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("rows that are looked at are work, however few are found", "[find_handler]") {
  const Serving serving(testing::TypedGraph(9, 60, 9, 3), {}, SmallLimits(262144));
  FindRequest request = RequestOf(serving, 1e300);
  request.set_count(5);
  CHECK(ReplyBytes(serving.state(), request) == 5 * 8);
  request.set_count(kMaxRequestLooked + 1);
  CHECK(ReplyBytes(serving.state(), request) == 0);  // it is refused
}

}  // namespace
}  // namespace vicinity

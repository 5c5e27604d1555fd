#include "cache/static_pool.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cache/row_pool.h"
#include "tests/contract/row_pool_contract.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::PoolKind;
using testing::PoolShape;
using testing::TrueRows;

PoolKind StaticKind() {
  PoolKind kind;
  kind.fixed = true;
  kind.make = [](const PoolShape& shape) -> std::unique_ptr<RowPool> {
    std::vector<int64_t> ids(shape.capacity);
    std::iota(ids.begin(), ids.end(), int64_t{0});
    const FillRows fill = [&](absl::Span<const int64_t> chunk, char* out) {
      const std::string rows = TrueRows(chunk, shape.row_bytes);
      std::memcpy(out, rows.data(), rows.size());
      return absl::OkStatus();
    };
    auto pool = StaticPool::Create(shape.row_bytes, ids, fill);
    VICINITY_REQUIRE_OK(pool);
    return *std::move(pool);
  };
  return kind;
}

TEST_CASE("static pool: the life of a batch", "[static_pool]") {
  testing::CheckLifeOfABatch(StaticKind());
}
TEST_CASE("static pool: batches share rows on their way", "[static_pool]") {
  testing::CheckSharing(StaticKind());
}
TEST_CASE("static pool: rows that could not be fetched", "[static_pool]") {
  testing::CheckAbandoning(StaticKind());
}
TEST_CASE("static pool: wrong calls are refused", "[static_pool]") {
  testing::CheckRefusals(StaticKind());
}
TEST_CASE("static pool: random operations agree with the naive model", "[static_pool]") {
  const int64_t capacity = GENERATE(0, 1, 7, 30);
  testing::CheckAgainstModel(StaticKind(), {GENERATE(1, 24), capacity, 30}, 5000, 17);
}
TEST_CASE("static pool: so do many short sequences on pools of any shape", "[static_pool]") {
  testing::CheckManyShapes(StaticKind(), 10000);
}
TEST_CASE("static pool: many threads at once", "[static_pool]") {
  testing::CheckThreads(StaticKind(), {40, GENERATE(0, 10), 50}, 4, 150);
}

TEST_CASE("a static pool asks for its rows in the order given, some at a time", "[static_pool]") {
  std::vector<int64_t> ids = {9, 4, 7, 1, 3};
  constexpr int64_t kRowBytes = 7 << 20;  // two rows fit one call
  std::vector<std::vector<int64_t>> calls;
  const FillRows fill = [&](absl::Span<const int64_t> chunk, char* out) {
    calls.emplace_back(chunk.begin(), chunk.end());
    for (size_t i = 0; i < chunk.size(); ++i) {
      std::memset(out + i * kRowBytes, static_cast<int>(chunk[i]), kRowBytes);
    }
    return absl::OkStatus();
  };
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto pool, StaticPool::Create(kRowBytes, ids, fill));
  CHECK(calls == std::vector<std::vector<int64_t>>{{9, 4}, {7, 1}, {3}});
  VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch batch, pool->Admit({3, 9}));
  CHECK(batch.missing.empty());
  std::string out(2 * kRowBytes, '\0');
  VICINITY_REQUIRE_OK(pool->Assemble(batch, {0, 1}, std::chrono::nanoseconds(0), out.data()));
  CHECK(out == std::string(kRowBytes, 3) + std::string(kRowBytes, 9));
  pool->Release(batch);
}

TEST_CASE("a static pool that cannot be filled is refused", "[static_pool]") {
  const FillRows never = [](absl::Span<const int64_t>, char*) {
    return absl::UnavailableError("shard 2");
  };
  VICINITY_CHECK_CODE(StaticPool::Create(8, {1, 2}, never), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(StaticPool::Create(0, {}, never), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(StaticPool::Create(-8, {}, never), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(StaticPool::Create(8, {1, 2, 1}, never), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(StaticPool::Create(8, {1, -2}, never), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_OK(StaticPool::Create(8, {}, never));
}

}  // namespace
}  // namespace vicinity

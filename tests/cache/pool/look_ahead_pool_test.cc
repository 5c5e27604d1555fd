#include "cache/pool/look_ahead_pool.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cache/pool/row_pool.h"
#include "tests/contract/row_pool_contract.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::PoolKind;
using testing::PoolShape;
using testing::TrueRows;

constexpr std::chrono::seconds kLong(60);

FillRows TrueFill(int64_t row_bytes) {
  return [row_bytes](absl::Span<const int64_t> ids, char* out) {
    const std::string rows = TrueRows(ids, row_bytes);
    std::memcpy(out, rows.data(), rows.size());
    return absl::OkStatus();
  };
}

std::vector<int64_t> FirstNodes(int64_t num_nodes) {
  std::vector<int64_t> ids(num_nodes);
  std::iota(ids.begin(), ids.end(), int64_t{0});
  return ids;
}

std::unique_ptr<LookAheadPool> MakePool(const PoolShape& shape) {
  auto pool = LookAheadPool::Create(shape.row_bytes, shape.capacity, FirstNodes(shape.num_nodes),
                                    TrueFill(shape.row_bytes));
  VICINITY_REQUIRE_OK(pool);
  return *std::move(pool);
}

PoolKind LookAheadKind() {
  PoolKind kind;
  kind.make = MakePool;
  return kind;
}

TEST_CASE("look-ahead pool: the life of a batch", "[look_ahead_pool]") {
  testing::CheckLifeOfABatch(LookAheadKind());
}
TEST_CASE("look-ahead pool: batches share rows on their way", "[look_ahead_pool]") {
  testing::CheckSharing(LookAheadKind());
}
TEST_CASE("look-ahead pool: rows that could not be fetched", "[look_ahead_pool]") {
  testing::CheckAbandoning(LookAheadKind());
}
TEST_CASE("look-ahead pool: wrong calls are refused", "[look_ahead_pool]") {
  testing::CheckRefusals(LookAheadKind());
}
TEST_CASE("look-ahead pool: random operations agree with the naive model", "[look_ahead_pool]") {
  const int64_t capacity = GENERATE(0, 1, 7, 29, 30, 60);
  testing::CheckAgainstModel(LookAheadKind(), {GENERATE(1, 24), capacity, 30}, 5000, 17);
}
TEST_CASE("look-ahead pool: so do many short sequences on pools of any shape",
          "[look_ahead_pool]") {
  testing::CheckManyShapes(LookAheadKind(), 10000);
}
TEST_CASE("look-ahead pool: many threads at once", "[look_ahead_pool]") {
  testing::CheckThreads(LookAheadKind(), {40, GENERATE(0, 10, 40), 50}, 4, 150);
}

TEST_CASE("a look-ahead pool that cannot be made is refused", "[look_ahead_pool]") {
  const auto create = [](int64_t row_bytes, int64_t capacity, std::vector<int64_t> ranked) {
    return LookAheadPool::Create(row_bytes, capacity, ranked, [](absl::Span<const int64_t>, char*) {
      return absl::UnavailableError("shard 2");
    });
  };
  VICINITY_CHECK_CODE(create(8, 1, {1, 2}), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(create(0, 1, {}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(create(8, -1, {}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(create(8, 1, {1, 2, 1}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(create(8, 1, {-2}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_OK(create(8, 0, {1, 2}));
  VICINITY_CHECK_OK(create(8, 1, {}));
}

TEST_CASE("announced batches keep the rows that they need", "[look_ahead_pool]") {
  const std::unique_ptr<LookAheadPool> pool = MakePool({8, 2, 3});
  const std::vector<std::vector<int64_t>> batches = {{2}, {50}, {2}, {50}};
  for (const auto& ids : batches) VICINITY_REQUIRE_OK(pool->Announce(ids));
  VICINITY_CHECK_CODE(pool->Announce({-1}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(pool->Admit({50}), absl::StatusCode::kInvalidArgument);
  for (const auto& ids : batches) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch batch, pool->Admit(ids));
    if (!batch.missing.empty()) VICINITY_REQUIRE_OK(pool->Deliver(batch, 0, TrueRows(ids, 8)));
    pool->Release(batch);
  }
  CHECK(pool->stats().fetched == 2);
  CHECK(pool->stats().staged_rows == 0);

  VICINITY_REQUIRE_OK(pool->Announce({7}));
  pool->Forget();
  VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch other, pool->Admit({2, 50}));
  CHECK(other.missing.empty());
  pool->Release(other);
}

// A trainer: batches are announced `window` ahead, admitted `depth` ahead in one thread, their rows
// brought by others in pieces, assembled and released in order by this one.
TEST_CASE("a pipeline of threads gets every row right", "[look_ahead_pool]") {
  constexpr int kNumBatches = 150;
  constexpr int kWindow = 12;
  constexpr int kDepth = 4;
  constexpr int64_t kRowBytes = 40;
  const int64_t capacity = GENERATE(0, 60, 150);
  const std::unique_ptr<LookAheadPool> pool = MakePool({kRowBytes, capacity, 200});
  std::mt19937_64 random(5);
  std::vector<std::vector<int64_t>> batches(kNumBatches);
  for (std::vector<int64_t>& ids : batches) {
    for (int i = 0; i < 40; ++i) ids.push_back(std::min(random() % 200, random() % 200));
  }
  const std::vector<int64_t> positions = FirstNodes(40);
  std::deque<PoolBatch> in_flight;
  std::deque<std::thread> fetchers;
  int announced = 0;
  int admitted = 0;
  int64_t num_wrong = 0;
  for (int step = 0; step < kNumBatches; ++step) {
    for (; announced < std::min(kNumBatches, step + kWindow); ++announced) {
      VICINITY_REQUIRE_OK(pool->Announce(batches[announced]));
    }
    for (; admitted < std::min(kNumBatches, step + kDepth); ++admitted) {
      VICINITY_ASSERT_OK_AND_ASSIGN(PoolBatch batch, pool->Admit(batches[admitted]));
      in_flight.push_back(std::move(batch));
      fetchers.emplace_back([&pool, batch = in_flight.back(), &ids = batches[admitted]] {
        for (size_t i = 0; i < batch.missing.size(); ++i) {
          // Wrong calls show as rows that never come.
          pool->Deliver(batch, i, TrueRows({ids[batch.missing[i]]}, kRowBytes)).IgnoreError();
        }
      });
    }
    std::string rows(40 * kRowBytes, '\0');
    VICINITY_REQUIRE_OK(pool->Assemble(in_flight.front(), positions, kLong, rows.data()));
    if (rows != TrueRows(batches[step], kRowBytes)) ++num_wrong;
    fetchers.front().join();
    fetchers.pop_front();
    pool->Release(in_flight.front());
    in_flight.pop_front();
  }
  CHECK(num_wrong == 0);
  const PoolStats stats = pool->stats();
  CHECK(stats.lookups == 40 * kNumBatches);
  CHECK(stats.fetched < stats.lookups);
  CHECK(stats.hits == stats.lookups - stats.fetched);
}

}  // namespace
}  // namespace vicinity

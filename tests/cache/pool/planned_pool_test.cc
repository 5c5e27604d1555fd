// The pools' contract suite, which each derived pool passes, tests the rest.
#include "cache/pool/planned_pool.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/pool/look_ahead_planner.h"
#include "cache/pool/row_pool.h"
#include "proto/common/mutex.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr std::chrono::nanoseconds kNoWait(0);

// A pool of rows without bytes.
class BarePool : public PlannedPool {
 public:
  explicit BarePool(std::unique_ptr<LookAheadPlanner> planner) : PlannedPool(std::move(planner)) {
    arrivals_.Grow(100);
  }
  absl::StatusOr<PoolBatch> Admit(absl::Span<const int64_t> ids) override {
    PoolBatch batch;
    MutexLock lock(&mu_);
    const absl::Status planned = Plan(ids, &batch);
    if (!planned.ok()) return planned;
    return batch;
  }
  absl::Status Deliver(const PoolBatch& batch, int64_t first,
                       absl::Span<const char> rows) override {
    const auto num_rows = static_cast<int64_t>(rows.size());
    const absl::Status begun = arrivals_.Begin(batch, first, num_rows);
    if (begun.ok()) arrivals_.Finish(batch, first, num_rows, true);
    return begun;
  }
  absl::Status Assemble(const PoolBatch& batch, absl::Span<const int64_t> /*positions*/,
                        std::chrono::nanoseconds timeout, char* /*out*/) override {
    return arrivals_.Wait(batch, timeout);
  }
  int64_t row_bytes() const override { return 1; }
};

std::unique_ptr<BarePool> Make(int64_t capacity) {
  LookAheadPlanner::Options options;
  options.capacity_rows = capacity;
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<LookAheadPlanner> planner,
                                LookAheadPlanner::Create(options, {}));
  return std::make_unique<BarePool>(std::move(planner));
}

TEST_CASE("what is asked for, found and staged is counted", "[planned_pool]") {
  const std::unique_ptr<BarePool> pool = Make(2);
  VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch first, pool->Admit({1, 2, 3}));
  VICINITY_CHECK_OK(pool->Deliver(first, 0, {"abc", 3}));
  VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch second, pool->Admit({3, 4}));
  CHECK(second.missing == std::vector<int32_t>{1});
  pool->Release(first);
  pool->Release(second);
  const PoolStats stats = pool->stats();
  CHECK(stats.capacity_rows == 2);
  CHECK(stats.lookups == 5);
  CHECK(stats.fetched == 4);
  CHECK(stats.hits == 1);
  CHECK(stats.staged_rows == 2);
}

TEST_CASE("a released batch gives up what did not come; a later one fetches it", "[planned_pool]") {
  const std::unique_ptr<BarePool> pool = Make(10);
  VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch first, pool->Admit({1}));
  VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch waiting, pool->Admit({1}));
  VICINITY_CHECK_CODE(pool->Assemble(waiting, {0}, kNoWait, nullptr),
                      absl::StatusCode::kDeadlineExceeded);
  pool->Release(first);
  VICINITY_CHECK_CODE(pool->Assemble(waiting, {0}, kNoWait, nullptr),
                      absl::StatusCode::kUnavailable);
  VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch again, pool->Admit({1}));
  CHECK(again.missing.size() == 1);
  VICINITY_CHECK_OK(pool->Deliver(again, 0, {"a", 1}));
  VICINITY_CHECK_OK(pool->Assemble(again, {0}, kNoWait, nullptr));
}

TEST_CASE("announced batches are admitted in their order, or forgotten", "[planned_pool]") {
  const std::unique_ptr<BarePool> pool = Make(10);
  VICINITY_REQUIRE_OK(pool->Announce({1, 2}));
  VICINITY_CHECK_CODE(pool->Admit({3}), absl::StatusCode::kInvalidArgument);
  pool->Forget();
  VICINITY_CHECK_OK(pool->Admit({3}));
}

}  // namespace
}  // namespace vicinity

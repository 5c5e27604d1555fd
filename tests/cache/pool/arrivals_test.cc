#include "cache/pool/arrivals.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "cache/pool/row_pool.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr std::chrono::nanoseconds kNoWait(0);

// The pools' contract suite tests the rest.
TEST_CASE("a row that began to come is nobody else's until it is there", "[arrivals]") {
  Arrivals arrivals;
  arrivals.Grow(3);
  PoolBatch batch;
  batch.slots = {2, 0, 1};
  batch.missing = {0, 2};
  arrivals.Expect(&batch);
  VICINITY_CHECK_OK(arrivals.Begin(batch, 0, 2));
  VICINITY_CHECK_CODE(arrivals.Begin(batch, 1, 1), absl::StatusCode::kInvalidArgument);
  CHECK(arrivals.GiveUp(batch).empty());
  VICINITY_CHECK_CODE(arrivals.Wait(batch, kNoWait), absl::StatusCode::kDeadlineExceeded);

  // One that did not come after all can begin again, or be given up.
  arrivals.Finish(batch, 0, 1, /*there=*/true);
  arrivals.Finish(batch, 1, 1, /*there=*/false);
  VICINITY_CHECK_CODE(arrivals.Wait(batch, kNoWait), absl::StatusCode::kDeadlineExceeded);
  CHECK(arrivals.GiveUp(batch) == std::vector<int32_t>{2});
  VICINITY_CHECK_CODE(arrivals.Wait(batch, kNoWait), absl::StatusCode::kUnavailable);
}

TEST_CASE("rows that do not lie in what is missing are refused", "[arrivals]") {
  PoolBatch batch;
  batch.slots = {2, 0, 1};
  batch.missing = {0, 2};
  VICINITY_CHECK_OK(CheckDelivery(batch, 0, 8, 4));
  VICINITY_CHECK_OK(CheckDelivery(batch, 2, 0, 4));
  VICINITY_CHECK_CODE(CheckDelivery(batch, 0, 7, 4), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(CheckDelivery(batch, 1, 8, 4), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(CheckDelivery(batch, -1, 4, 4), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(CheckDelivery(batch, INT64_MAX, 4, 4), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity

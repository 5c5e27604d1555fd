#include "cache/arriving_rows.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cache/row_pool.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr std::chrono::nanoseconds kNoWait(0);

// The pools' contract suite tests the rest.
TEST_CASE("a slot's row comes, is given up, and comes anew for its next owner", "[arriving]") {
  ArrivingRows rows(4);
  REQUIRE(rows.Grow(3));
  PoolBatch first;
  first.slots = {2, 0, 1};
  first.missing = {0, 2};
  rows.Expect(&first);
  CHECK(first.awaited.empty());
  PoolBatch second;
  second.slots = {1, 0};
  rows.Expect(&second);
  CHECK(second.awaited == std::vector<int32_t>{0});
  VICINITY_CHECK_CODE(rows.Wait(second, kNoWait), absl::StatusCode::kDeadlineExceeded);
  VICINITY_CHECK_OK(rows.Deliver(first, 0, std::string("abcd")));
  CHECK(std::string(rows.Row(2), 4) == "abcd");
  CHECK(rows.GiveUp(first) == std::vector<int32_t>{2});
  CHECK(rows.GiveUp(first).empty());
  VICINITY_CHECK_CODE(rows.Wait(second, kNoWait), absl::StatusCode::kUnavailable);

  PoolBatch third;
  third.slots = {1};
  third.missing = {0};
  rows.Expect(&third);
  CHECK(third.awaited.empty());
  VICINITY_CHECK_OK(rows.Deliver(third, 0, std::string("efgh")));
  VICINITY_CHECK_OK(rows.Wait(third, kNoWait));
}

TEST_CASE("more slots than there are numbers for is an answer", "[arriving]") {
  ArrivingRows rows(4);
  CHECK_FALSE(rows.Grow(int64_t{1} << 31));
}

}  // namespace
}  // namespace vicinity

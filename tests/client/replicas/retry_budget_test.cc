#include "client/replicas/retry_budget.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kNow(1000);  // what has passed before fills no more than the bucket

TEST_CASE("a full bucket, then one token for ten successes", "[retry_budget]") {
  RetryBudget budget(10);
  for (int i = 0; i < 10; ++i) CHECK(budget.TryTake(kNow));
  CHECK_FALSE(budget.TryTake(kNow));
  for (int i = 0; i < 9; ++i) budget.OnSuccess();
  CHECK_FALSE(budget.TryTake(kNow));
  budget.OnSuccess();
  CHECK(budget.TryTake(kNow));
  CHECK_FALSE(budget.TryTake(kNow));
}

TEST_CASE("no more is saved than the bucket holds", "[retry_budget]") {
  RetryBudget budget(2);
  for (int i = 0; i < 1000; ++i) budget.OnSuccess();
  CHECK(budget.TryTake(kNow));
  CHECK(budget.TryTake(kNow));
  CHECK_FALSE(budget.TryTake(kNow));
}

TEST_CASE("a second brings a token", "[retry_budget]") {
  RetryBudget budget(2);
  CHECK(budget.TryTake(kNow));
  CHECK(budget.TryTake(kNow));
  CHECK_FALSE(budget.TryTake(kNow + milliseconds(999)));
  CHECK(budget.TryTake(kNow + milliseconds(1000)));
  CHECK_FALSE(budget.TryTake(kNow + milliseconds(1999)));
  CHECK(budget.TryTake(kNow + seconds(100)));
  CHECK(budget.TryTake(kNow + seconds(100)));
  CHECK_FALSE(budget.TryTake(kNow + seconds(100)));
}

}  // namespace
}  // namespace vicinity

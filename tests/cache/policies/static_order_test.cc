#include "cache/policies/static_order.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "tests/cache/policies/policy_oracles.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RandomTrace;

TEST_CASE("nodes with a score are ordered, equal ones by number", "[static_order]") {
  CHECK(OrderByScore({0, 2, 5, 2, 0, 7}) == std::vector<int64_t>{5, 2, 1, 3});
  CHECK(OrderByScore({}).empty());
  CHECK(OrderByScore({0, 0}).empty());
}

TEST_CASE("batches in flight that share rows fetch what none of them has", "[static_order]") {
  const AccessTrace trace = RandomTrace(std::vector<double>(50, 0.2), 40, 5);
  const std::vector<int64_t> order = {4, 9, 30, 31, 2, 0};
  for (const int depth : {1, 2, 7, 100}) {
    for (const int64_t capacity : {0, 1, 4, 100}) {
      CAPTURE(depth, capacity);
      const std::set<int64_t> cached(order.begin(), order.begin() + std::min<int64_t>(6, capacity));
      int64_t fetched = 0;
      double sum_staged = 0;
      int64_t most_staged = 0;
      int64_t num_full = 0;
      for (int64_t b = 0; b < trace.num_batches(); ++b) {
        std::set<int64_t> in_flight;
        for (int64_t other = std::max<int64_t>(0, b - depth + 1); other < b; ++other) {
          in_flight.insert(trace.batch(other).begin(), trace.batch(other).end());
        }
        for (const int64_t node : trace.batch(b)) {
          fetched += cached.count(node) == 0 && in_flight.count(node) == 0;
          in_flight.insert(node);
        }
        for (const int64_t node : cached) in_flight.erase(node);
        most_staged = std::max<int64_t>(most_staged, in_flight.size());
        if (b < std::min<int64_t>(depth, trace.num_batches()) - 1) continue;
        sum_staged += static_cast<double>(in_flight.size());
        ++num_full;
      }
      const PolicyCount count = StaticOrder("some", order).CountWith(trace, capacity, depth);
      CHECK(count.used == trace.num_uses());
      CHECK(count.fetched == fetched);
      CHECK(count.held == Approx(cached.size() + sum_staged / num_full));
      CHECK(count.most_held == static_cast<int64_t>(cached.size()) + most_staged);
    }
  }
}

TEST_CASE("a trace without batches and a budget that is none", "[static_order]") {
  const StaticOrder none("none", {});
  VICINITY_ASSERT_OK_AND_ASSIGN(const PolicyCount count, none.Count(AccessTrace(5), {}));
  CHECK(count.fetched == 0);
  CHECK(count.held == 0);
  VICINITY_CHECK_CODE(none.Count(AccessTrace(5), {-1, 1}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(none.Count(AccessTrace(5), {0, 0}), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("of a budget a static cache gets the most that leave room for batches in flight",
          "[static_order]") {
  const AccessTrace trace = RandomTrace(std::vector<double>(50, 0.2), 40, 9);
  std::vector<int64_t> order(30);
  std::iota(order.rbegin(), order.rend(), 7);
  const StaticOrder cache("some", order);
  for (const int depth : {1, 3, 100}) {
    for (int64_t total = 0; total < 60; ++total) {
      int64_t most = 0;
      for (int64_t held = 1; held <= 30; ++held) {
        if (cache.CountWith(trace, held, depth).held <= static_cast<double>(total)) most = held;
      }
      VICINITY_ASSERT_OK_AND_ASSIGN(const PolicyCount count, cache.Count(trace, {total, depth}));
      CAPTURE(depth, total, most);
      CHECK(count.fetched == cache.CountWith(trace, most, depth).fetched);
      CHECK(count.held == cache.CountWith(trace, most, depth).held);
    }
  }
}

}  // namespace
}  // namespace vicinity

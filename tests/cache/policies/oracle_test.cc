#include "cache/policies/oracle.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "tests/cache/policies/policy_oracles.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("no static choice beats the oracle", "[policies]") {
  const AccessTrace trace = testing::RandomTrace({0.9, 0.1, 0.5, 0.3, 0.2, 0.7, 0.5}, 15, 4);
  const std::unique_ptr<Policy> oracle = MakeOraclePolicy(trace);
  CHECK(oracle->name() == "oracle");
  std::vector<int64_t> best(8, INT64_MAX);  // by capacity, over all sets of nodes
  for (int set = 0; set < 1 << 7; ++set) {
    int64_t fetched = 0;
    for (const int64_t node : trace.uses()) fetched += (set >> node & 1) == 0;
    int64_t& of_size = best[__builtin_popcount(set)];
    of_size = std::min(of_size, fetched);
  }
  for (int64_t capacity = 0; capacity < 8; ++capacity) {
    const auto& order = dynamic_cast<const StaticOrder&>(*oracle);
    CHECK(order.CountWith(trace, capacity, 1).fetched == best[capacity]);
  }
}

}  // namespace
}  // namespace vicinity

#include "cache/policies/lru.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "tests/cache/policies/policy_oracles.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// A list in the order of use; rows of batches in flight stay.
int64_t NaiveLru(const AccessTrace& trace, const std::vector<int64_t>& ranked, int64_t total,
                 int depth) {
  std::list<int64_t> rows;  // the last used in front
  for (int64_t i = 0; i < std::min<int64_t>(total, ranked.size()); ++i) rows.push_back(ranked[i]);
  std::map<int64_t, int> pins;
  const auto shrink = [&](int64_t size) {
    for (auto row = rows.end(); row != rows.begin() && static_cast<int64_t>(rows.size()) > size;) {
      --row;
      if (pins[*row] == 0) row = rows.erase(row);
    }
  };
  int64_t fetched = 0;
  for (int64_t b = 0; b < trace.num_batches(); ++b) {
    if (b >= depth) {
      for (const int64_t node : trace.batch(b - depth)) {
        if (--pins[node] > 0) continue;
        rows.remove(node);
        rows.push_front(node);
      }
      shrink(total);
    }
    std::vector<int64_t> missing;
    for (const int64_t node : trace.batch(b)) {
      ++pins[node];
      if (std::find(rows.begin(), rows.end(), node) == rows.end()) missing.push_back(node);
    }
    shrink(std::max<int64_t>(0, total - static_cast<int64_t>(missing.size())));
    rows.insert(rows.begin(), missing.begin(), missing.end());
    fetched += static_cast<int64_t>(missing.size());
  }
  return fetched;
}

TEST_CASE("LRU agrees with a list", "[policies]") {
  std::vector<double> chances(60);
  for (size_t i = 0; i < chances.size(); ++i) chances[i] = 1.0 / (2 + i / 2);
  std::vector<int64_t> ranked(40);
  std::iota(ranked.begin(), ranked.end(), 0);
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const AccessTrace trace = testing::RandomTrace(chances, 60, seed);
    const std::unique_ptr<Policy> lru = MakeLruPolicy(ranked);
    CHECK(lru->name() == "lru");
    for (const int64_t total : {0, 1, 5, 12, 20, 35, 60}) {
      const int depth = 1 + static_cast<int>(seed % 4);
      CAPTURE(seed, total, depth);
      VICINITY_ASSERT_OK_AND_ASSIGN(const PolicyCount count, lru->Count(trace, {total, depth}));
      REQUIRE(count.fetched == NaiveLru(trace, ranked, total, depth));
      REQUIRE(count.used == trace.num_uses());
    }
  }
}

}  // namespace
}  // namespace vicinity

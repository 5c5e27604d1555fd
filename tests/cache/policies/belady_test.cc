#include "cache/policies/belady.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "tests/cache/policies/policy_oracles.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr int kMostNodes = 7;

// The fewest rows that any pool could fetch: over everything it may hold at first, and keep after
// each batch. Sets of nodes are bits.
class Exhaustive {
 public:
  Exhaustive(const AccessTrace& trace, int64_t total, int depth)
      : trace_(trace), total_(total), depth_(depth) {}

  int64_t Fewest() const {
    const int num_sets = 1 << trace_.num_nodes();
    std::vector<int64_t> fetched(num_sets, kNever);  // to come to hold this set
    for (int held = 0; held < num_sets; ++held) {
      if (__builtin_popcount(held) <= total_) fetched[held] = 0;
    }
    for (int64_t b = 0; b < trace_.num_batches(); ++b) fetched = After(b, fetched);
    return *std::min_element(fetched.begin(), fetched.end());
  }

 private:
  static constexpr int64_t kNever = int64_t{1} << 40;

  int SetOf(int64_t batch) const {
    int set = 0;
    for (const int64_t node : trace_.batch(batch)) set |= 1 << node;
    return set;
  }

  // The rows of batches [first, last].
  int Pinned(int64_t first, int64_t last) const {
    int pinned = 0;
    for (int64_t b = std::max<int64_t>(0, first); b <= last; ++b) pinned |= SetOf(b);
    return pinned;
  }

  // A batch is released, the next one admitted.
  std::vector<int64_t> After(int64_t b, const std::vector<int64_t>& before) const {
    const std::vector<int64_t> released = Kept(before, Pinned(b - depth_ + 1, b - 1));
    std::vector<int64_t> admitted(before.size(), kNever);
    for (size_t held = 0; held < before.size(); ++held) {
      if (released[held] == kNever) continue;
      const int missing = SetOf(b) & ~static_cast<int>(held);
      int64_t& best = admitted[held | missing];
      best = std::min(best, released[held] + __builtin_popcount(missing));
    }
    return Kept(admitted, Pinned(b - depth_ + 1, b));
  }

  // Any set of rows can be let go, but none that is pinned, until no more are left than fit.
  std::vector<int64_t> Kept(const std::vector<int64_t>& before, int pinned) const {
    std::vector<int64_t> after(before.size(), kNever);
    for (size_t held = 0; held < before.size(); ++held) {
      if (before[held] == kNever) continue;
      const int free = static_cast<int>(held) & ~pinned;
      for (int kept = free;; kept = (kept - 1) & free) {
        if (kept == 0 || __builtin_popcount(kept | pinned) <= total_) {
          int64_t& best = after[kept | pinned];
          best = std::min(best, before[held]);
        }
        if (kept == 0) break;
      }
    }
    return after;
  }

  const AccessTrace& trace_;
  const int64_t total_;
  const int depth_;
};

TEST_CASE("Belady fetches as few rows as any pool could", "[policies]") {
  const std::unique_ptr<Policy> belady = MakeBeladyPolicy();
  CHECK(belady->name() == "belady");
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const std::vector<double> chances(2 + seed % (kMostNodes - 1), 0.15 + 0.05 * (seed % 7));
    const AccessTrace trace = testing::RandomTrace(chances, 8, seed);
    for (int64_t total = 0; total <= trace.num_nodes(); ++total) {
      for (const int depth : {1, 2, 3}) {
        CAPTURE(seed, total, depth);
        VICINITY_ASSERT_OK_AND_ASSIGN(const PolicyCount count,
                                      belady->Count(trace, {total, depth}));
        REQUIRE(count.fetched == Exhaustive(trace, total, depth).Fewest());
      }
    }
  }
}

}  // namespace
}  // namespace vicinity

#include "cache/policies/next_use.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "tests/cache/policies/policy_oracles.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// What goes first, by a search through all that is known.
class NaiveNextUse {
 public:
  NaiveNextUse(const AccessTrace& trace, int64_t total, int depth, int64_t window)
      : trace_(trace), total_(total), depth_(depth), window_(window) {}

  // Nodes are ranked by number.
  int64_t Fetched() {
    for (int64_t node = 0; node < std::min(total_, trace_.num_nodes()); ++node) rows_.insert(node);
    int64_t fetched = 0;
    for (int64_t b = 0; b < trace_.num_batches(); ++b) {
      // The batch before was the last known when the one that ends now was released.
      if (b > 0) known_ = b - 1 + window_;
      if (b >= depth_) ended_[b - depth_] = true;
      Shrink(b - 1, total_);
      known_ = b + window_;
      std::set<int64_t> missing;
      for (const int64_t node : trace_.batch(b)) {
        if (rows_.count(node) == 0) missing.insert(node);
      }
      Shrink(b, std::max<int64_t>(0, total_ - static_cast<int64_t>(missing.size())));
      rows_.insert(missing.begin(), missing.end());
      fetched += static_cast<int64_t>(missing.size());
    }
    return fetched;
  }

 private:
  bool IsIn(int64_t node, int64_t batch) const {
    const auto nodes = trace_.batch(batch);
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  }

  // Lets rows go that no batch in flight, the last of which is `admitted`, needs.
  void Shrink(int64_t admitted, int64_t size) {
    while (static_cast<int64_t>(rows_.size()) > size) {
      int64_t worst = -1;
      std::pair<int64_t, int64_t> worst_key;
      for (const int64_t node : rows_) {
        bool pinned = false;
        for (int64_t b = std::max<int64_t>(0, admitted - depth_ + 1); b <= admitted; ++b) {
          pinned = pinned || (!ended_[b] && IsIn(node, b));
        }
        if (pinned) continue;
        const std::pair<int64_t, int64_t> key = Key(node, admitted);
        if (worst < 0 || key > worst_key) {
          worst = node;
          worst_key = key;
        }
      }
      if (worst < 0) return;
      rows_.erase(worst);
    }
  }

  // Batch of the next use and place in it, else behind all batches by rank.
  std::pair<int64_t, int64_t> Key(int64_t node, int64_t admitted) const {
    for (int64_t b = admitted + 1; b <= std::min(known_, trace_.num_batches() - 1); ++b) {
      const auto nodes = trace_.batch(b);
      const auto found = std::find(nodes.begin(), nodes.end(), node);
      if (found != nodes.end()) return {b, found - nodes.begin()};
    }
    return {INT64_MAX, node};
  }

  const AccessTrace& trace_;
  const int64_t total_;
  const int depth_;
  const int64_t window_;
  std::set<int64_t> rows_;
  std::map<int64_t, bool> ended_;
  int64_t known_ = -1;  // the last batch announced
};

std::vector<double> Chances(int num_nodes, double first) {
  std::vector<double> chances(num_nodes);
  for (int i = 0; i < num_nodes; ++i) chances[i] = first / (1 + i / 3.0);
  return chances;
}

std::vector<int64_t> Ranked(int num_nodes) {
  std::vector<int64_t> ranked(num_nodes);
  std::iota(ranked.begin(), ranked.end(), 0);
  return ranked;
}

TEST_CASE("next use agrees with a search through the window", "[policies]") {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const AccessTrace trace = testing::RandomTrace(Chances(40, 0.8), 40, seed);
    for (const int64_t window : {0, 3, 5, 12, 1000}) {
      const std::unique_ptr<Policy> policy = MakeNextUsePolicy(Ranked(40), window);
      for (const int64_t total : {0, 1, 6, 12, 25, 40}) {
        const int depth = 1 + static_cast<int>(seed % 4);
        CAPTURE(seed, window, total, depth);
        VICINITY_ASSERT_OK_AND_ASSIGN(const PolicyCount count,
                                      policy->Count(trace, {total, depth}));
        REQUIRE(count.fetched == NaiveNextUse(trace, total, depth, window).Fetched());
      }
    }
  }
  CHECK(MakeNextUsePolicy({}, 40)->name() == "next-use-40");
}

TEST_CASE("next use never fetches more than static VIP with the same memory", "[policies]") {
  int num_cases = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const int num_nodes = 20 + static_cast<int>(seed * 7 % 180);
    const double first = 0.2 + 0.1 * static_cast<double>(seed % 9);
    const AccessTrace trace =
        testing::RandomTrace(Chances(num_nodes, first), 50 + static_cast<int>(seed % 150), seed);
    const StaticOrder vip("vip", Ranked(num_nodes));
    for (const double share : {0.0, 0.05, 0.1, 0.2, 0.5, 0.8, 1.0}) {
      PolicyBudget budget;
      budget.depth = 1 + static_cast<int>(seed % 10);
      const PolicyCount fixed =
          vip.CountWith(trace, static_cast<int64_t>(share * num_nodes), budget.depth);
      budget.total_rows = fixed.most_held;
      for (const int64_t window : {int64_t{0}, int64_t{budget.depth}, 4 * int64_t{budget.depth}}) {
        CAPTURE(seed, share, budget.depth, window, num_nodes);
        VICINITY_ASSERT_OK_AND_ASSIGN(
            const PolicyCount pool,
            MakeNextUsePolicy(Ranked(num_nodes), window)->Count(trace, budget));
        REQUIRE(pool.fetched <= fixed.fetched);
        ++num_cases;
      }
    }
  }
  CHECK(num_cases == 6300);
}

}  // namespace
}  // namespace vicinity

#include "partition/ingest/weighted_pick.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

namespace vicinity {
namespace {

// Chi-square of 400,000 picks against the weights, over the items with a weight.
double ChiSquare(const std::vector<uint32_t>& weights) {
  const WeightedPick pick{absl::Span<const uint32_t>(weights)};
  constexpr int kPicks = 400000;
  std::vector<double> counts(weights.size());
  for (int i = 0; i < kPicks; ++i) {
    NodeDraws draws(99, static_cast<uint64_t>(i));
    ++counts[static_cast<size_t>(pick.Pick(&draws))];
  }
  double chi_square = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double expected =
        kPicks * static_cast<double>(weights[i]) / static_cast<double>(pick.total());
    if (weights[i] == 0) {
      CHECK(counts[i] == 0);
    } else {
      chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
  }
  return chi_square;
}

TEST_CASE("items are picked in proportion to their weights", "[weighted_pick]") {
  // The bounds are the 99.9 % points of chi-square with 9, 2 and 0 degrees of freedom.
  CHECK(ChiSquare({1, 2, 3, 4, 5, 6, 7, 8, 9, 1000}) < 27.9);
  CHECK(ChiSquare({5, 0, 5, 0, 90}) < 13.9);
  CHECK(ChiSquare({7}) == 0);
}

TEST_CASE("equal weights are all kept whole", "[weighted_pick]") {
  CHECK(ChiSquare(std::vector<uint32_t>(50, 3)) < 85.4);  // 49 degrees of freedom
}

}  // namespace
}  // namespace vicinity

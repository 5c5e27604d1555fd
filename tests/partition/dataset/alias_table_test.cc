#include "partition/dataset/alias_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "absl/types/span.h"
#include "proto/common/random.h"

namespace vicinity {
namespace {

std::vector<AliasEntry> Fill(const std::vector<double>& weights) {
  std::vector<AliasEntry> table(weights.size());
  AliasBuilder().Fill(weights, absl::MakeSpan(table));
  return table;
}

std::vector<uint64_t> UnitsOf(const std::vector<double>& weights) {
  std::vector<uint64_t> units;
  AliasUnits(Fill(weights), &units);
  return units;
}

// Weights of many magnitudes, some of them 0.
std::vector<double> RandomWeights(size_t size, NodeDraws* draws) {
  std::vector<double> weights(size);
  const uint64_t kind = draws->Below(4);
  for (double& weight : weights) {
    weight = static_cast<double>(draws->Below(1000) + 1);
    if (kind == 1 && draws->Below(3) == 0) weight = 0;
    if (kind == 2) weight = std::ldexp(weight, static_cast<int>(draws->Below(2000)) - 1060);
    if (kind == 3) weight = 7;
  }
  return weights;
}

TEST_CASE("a table gives each position its share of the weights, to one unit", "[alias_table]") {
  NodeDraws draws(3, 1);
  for (int round = 0; round < 3000; ++round) {
    const std::vector<double> weights = RandomWeights(1 + draws.Below(200), &draws);
    const std::vector<uint64_t> units = UnitsOf(weights);
    const double largest = *std::max_element(weights.begin(), weights.end());
    if (largest == 0) {
      REQUIRE(std::count(units.begin(), units.end(), uint64_t{0}) ==
              static_cast<int64_t>(units.size()));
      continue;
    }
    const uint64_t all = uint64_t{weights.size()} << 32;
    REQUIRE(std::accumulate(units.begin(), units.end(), uint64_t{0}) == all);
    long double sum = 0;
    for (const double weight : weights) sum += weight / largest;
    const size_t first_largest = std::max_element(weights.begin(), weights.end()) - weights.begin();
    for (size_t i = 0; i < weights.size(); ++i) {
      const long double exact = weights[i] / largest / sum * static_cast<long double>(all);
      const long double off = std::abs(static_cast<long double>(units[i]) - exact);
      CAPTURE(round, i, weights[i], units[i], static_cast<double>(exact));
      REQUIRE((weights[i] > 0) == (units[i] > 0));
      REQUIRE(off <= (i == first_largest ? static_cast<long double>(weights.size()) + 2 : 1.001L));
    }
  }
}

TEST_CASE("equal weights keep every position to itself", "[alias_table]") {
  for (const AliasEntry& entry : Fill(std::vector<double>(50, 0.1))) {
    CHECK(entry.has_weight());
    CHECK(entry.share == UINT32_MAX);
  }
  CHECK(UnitsOf({1, 1, 1}) == std::vector<uint64_t>(3, uint64_t{1} << 32));
}

TEST_CASE("positions of weight 0 are marked, and a list without weight is known by its first",
          "[alias_table]") {
  const std::vector<AliasEntry> some = Fill({0, 2, 0, 0, 5});
  const std::vector<bool> has = {false, true, false, false, true};
  for (size_t i = 0; i < some.size(); ++i) CHECK(some[i].has_weight() == has[i]);
  CHECK_FALSE(HasNoWeight(some.data()));
  const std::vector<AliasEntry> none = Fill({0, 0, 0});
  CHECK(HasNoWeight(none.data()));
  for (const AliasEntry& entry : none) CHECK_FALSE(entry.has_weight());
  CHECK_FALSE(HasNoWeight(Fill({3}).data()));
  CHECK(HasNoWeight(Fill({0}).data()));
}

TEST_CASE("the smallest weight beside the largest can still be drawn", "[alias_table]") {
  const std::vector<double> weights = {std::numeric_limits<double>::denorm_min(), 1e308, 1e308, 0};
  const std::vector<uint64_t> units = UnitsOf(weights);
  CHECK(units[0] == 1);
  CHECK(units[3] == 0);
  CHECK(units[1] + units[2] + 1 == uint64_t{4} << 32);
}

TEST_CASE("weights in another unit make the same table", "[alias_table]") {
  std::vector<double> weights = {0.25, 3, 1, 7.5, 0, 2};
  const std::vector<uint64_t> units = UnitsOf(weights);
  for (double& weight : weights) weight *= 1024;
  CHECK(UnitsOf(weights) == units);
}

TEST_CASE("what a damaged table says leads nowhere", "[alias_table]") {
  std::vector<uint64_t> units;
  AliasUnits(std::vector<AliasEntry>{{5, 77}, {9, 1}, {0, AliasEntry::kZeroWeight | 1000}}, &units);
  CHECK(units.size() == 3);
}

}  // namespace
}  // namespace vicinity

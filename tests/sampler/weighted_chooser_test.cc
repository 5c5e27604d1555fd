#include "sampler/weighted_chooser.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/random.h"
#include "tests/sampler/chi_square.h"

namespace vicinity {
namespace {

using testing::ChiSquare;
using testing::ChiSquareLimit;

// A count that is further from what is expected has a chance of 1e-7.
constexpr double kMostDeviations = 5.4;

std::vector<AliasEntry> TableOf(const std::vector<double>& weights) {
  std::vector<AliasEntry> table(weights.size());
  AliasBuilder().Fill(weights, absl::MakeSpan(table));
  return table;
}

// What one target draws from a list whose first position is 100.
class Drawer {
 public:
  Drawer(const std::vector<double>& weights, int64_t fanout, bool replace, uint64_t stream = 5)
      : table_(TableOf(weights)), chooser_(fanout, replace, stream) {}

  std::vector<int64_t> Draw(uint64_t key, uint32_t tree = 0) {
    const WeightedList list = {table_.data(), 100, table_.size(), key, tree};
    WeightedChooser::Attempts attempts;
    chooser_.Prepare(list, &attempts);
    std::vector<int64_t> positions(chooser_.MostFor(table_.size()));
    positions.resize(chooser_.Choose(list, attempts, positions.data()));
    for (int64_t& position : positions) position -= 100;
    return positions;
  }

 private:
  const std::vector<AliasEntry> table_;
  WeightedChooser chooser_;
};

// The chance of every sequence of `fanout` successive draws without replacement.
class Sequences {
 public:
  Sequences(const std::vector<double>& weights, size_t fanout) : weights_(weights) {
    double left = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<int64_t> drawn;
    Extend(fanout, 1, left, &drawn);
  }
  const std::map<std::vector<int64_t>, double>& chances() const { return chances_; }

 private:
  void Extend(size_t fanout, double chance, double left, std::vector<int64_t>* drawn) {
    if (drawn->size() == fanout) {
      chances_[*drawn] = chance;
      return;
    }
    for (int64_t i = 0; i < static_cast<int64_t>(weights_.size()); ++i) {
      if (weights_[i] == 0 || std::find(drawn->begin(), drawn->end(), i) != drawn->end()) continue;
      drawn->push_back(i);
      Extend(fanout, chance * weights_[i] / left, left - weights_[i], drawn);
      drawn->pop_back();
    }
  }

  const std::vector<double> weights_;
  std::map<std::vector<int64_t>, double> chances_;
};

// How far a count of `trials` trials is from its expectation, in standard deviations.
double Deviations(int64_t count, double chance, int64_t trials) {
  const double expected = chance * static_cast<double>(trials);
  return std::abs(static_cast<double>(count) - expected) /
         std::max(std::sqrt(expected * (1 - chance)), 1.0);
}

// Whole sequences against their chances; those that are hardly ever drawn are one cell together.
double SequenceBias(const std::map<std::vector<int64_t>, double>& chances,
                    const std::map<std::vector<int64_t>, int64_t>& seen, int64_t trials) {
  std::vector<int64_t> counts(1);
  std::vector<double> expected(1);
  for (const auto& [sequence, chance] : chances) {
    const auto found = seen.find(sequence);
    const int64_t count = found == seen.end() ? 0 : found->second;
    if (chance * static_cast<double>(trials) < 10) {
      counts[0] += count;
      expected[0] += chance * static_cast<double>(trials);
    } else {
      counts.push_back(count);
      expected.push_back(chance * static_cast<double>(trials));
    }
  }
  if (expected[0] < 10) {  // too few for a cell of their own
    counts[1] += counts[0];
    expected[1] += expected[0];
    counts.erase(counts.begin());
    expected.erase(expected.begin());
  }
  if (counts.size() == 1) return 0;
  return ChiSquare(counts, expected) / ChiSquareLimit(static_cast<int64_t>(counts.size()) - 1);
}

struct Case {
  std::vector<double> weights;
  int64_t fanout;
};

std::vector<Case> Cases() {
  return {{{1, 1}, 1},
          {{1, 2}, 1},
          {{1, 2, 3}, 1},
          {{1, 2, 3}, 2},
          {{5, 1, 0, 3}, 2},
          {{1, 1, 1, 1}, 2},
          {{1, 2, 3, 4, 5}, 2},
          {{1, 2, 3, 4, 5}, 4},
          {{0.1, 0, 7, 0.5, 2, 2}, 3},
          {{1000, 1, 1, 1, 1, 1}, 3},
          {{1e7, 1, 2, 3}, 2},
          {{1e9, 1e6, 1e3, 1, 0}, 3},
          {{3, 1, 4, 1, 5, 9, 2, 6}, 3},
          {{3, 1, 4, 1, 5, 9, 2}, 5},
          {{1, 1, 1, 1, 1, 1, 1, 100}, 4}};
}

TEST_CASE("without replacement draws are successive, each by the weights that are left",
          "[weighted_chooser]") {
  const Case each = GENERATE(from_range(Cases()));
  CAPTURE(each.weights, each.fanout);
  const int64_t trials = 1'000'000 / each.fanout + 1;
  const auto size = static_cast<int64_t>(each.weights.size());
  const std::map<std::vector<int64_t>, double> chances =
      Sequences(each.weights, static_cast<size_t>(each.fanout)).chances();
  std::map<std::vector<int64_t>, int64_t> seen;
  Drawer drawer(each.weights, each.fanout, /*replace=*/false);
  for (int64_t key = 0; key < trials; ++key) ++seen[drawer.Draw(static_cast<uint64_t>(key))];
  for (const auto& [sequence, count] : seen) REQUIRE(chances.count(sequence) == 1);
  CHECK(SequenceBias(chances, seen, trials) < 1);

  // That an edge is drawn, and that two are: what a learner sees.
  std::vector<double> chance(size * size);
  std::vector<int64_t> drawn(size * size);
  const auto add = [size](const std::vector<int64_t>& sequence, auto value, auto* sums) {
    for (const int64_t a : sequence) {
      for (const int64_t b : sequence) (*sums)[a * size + b] += value;
    }
  };
  for (const auto& [sequence, value] : chances) add(sequence, value, &chance);
  for (const auto& [sequence, count] : seen) add(sequence, count, &drawn);
  for (int64_t a = 0; a < size; ++a) {
    for (int64_t b = 0; b <= a; ++b) {
      CAPTURE(a, b, chance[a * size + b], drawn[a * size + b]);
      CHECK(Deviations(drawn[a * size + b], std::min(chance[a * size + b], 1.0), trials) <
            kMostDeviations);
    }
  }
}

TEST_CASE("with replacement each draw is by the weights, whatever the others",
          "[weighted_chooser]") {
  const Case each = GENERATE(from_range(Cases()));
  CAPTURE(each.weights);
  constexpr int64_t kFanout = 4;
  constexpr int64_t kTrials = 300'000;
  const size_t size = each.weights.size();
  std::vector<int64_t> singles(size);
  std::vector<int64_t> pairs(size * size);
  Drawer drawer(each.weights, kFanout, /*replace=*/true);
  for (uint64_t key = 0; key < kTrials; ++key) {
    const std::vector<int64_t> drawn = drawer.Draw(key);
    REQUIRE(drawn.size() == kFanout);
    for (const int64_t position : drawn) ++singles[position];
    ++pairs[drawn[0] * size + drawn[1]];
    ++pairs[drawn[2] * size + drawn[3]];
  }
  const double sum = std::accumulate(each.weights.begin(), each.weights.end(), 0.0);
  for (size_t a = 0; a < size; ++a) {
    if (each.weights[a] == 0) REQUIRE(singles[a] == 0);
    CHECK(Deviations(singles[a], each.weights[a] / sum, kTrials * kFanout) < kMostDeviations);
    for (size_t b = 0; b < size; ++b) {
      const double chance = each.weights[a] / sum * each.weights[b] / sum;
      CAPTURE(a, b, pairs[a * size + b], chance);
      CHECK(Deviations(pairs[a * size + b], chance, 2 * kTrials) < kMostDeviations);
    }
  }
}

TEST_CASE("positions and pairs of long lists have their chances", "[weighted_chooser]") {
  const size_t size = GENERATE(16, 40, 300, 5000);
  const double skew = GENERATE(0.0, 1.0, 6.0);
  CAPTURE(size, skew);
  NodeDraws draws(8, size);
  std::vector<double> weights(size);
  for (double& weight : weights) {
    weight = std::pow(static_cast<double>(draws.Below(1000) + 1) / 1000, skew);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  // Of two successive draws: position i first, or second after any other.
  double other = 0;
  for (const double weight : weights) other += weight / sum / (1 - weight / sum);
  constexpr int64_t kTrials = 500'000;
  Drawer two(weights, 2, /*replace=*/false);
  std::vector<int64_t> first(size);
  std::vector<int64_t> either(size);
  for (uint64_t key = 0; key < kTrials; ++key) {
    const std::vector<int64_t> drawn = two.Draw(key);
    REQUIRE(drawn.size() == 2);
    REQUIRE(drawn[0] != drawn[1]);
    ++first[drawn[0]];
    for (const int64_t position : drawn) ++either[position];
  }
  std::vector<double> expected(size);
  for (size_t i = 0; i < size; ++i) expected[i] = weights[i] / sum * kTrials;
  CHECK(ChiSquare(first, expected) <
        1.2 * ChiSquareLimit(static_cast<int64_t>(size) - 1));  // some cells expect next to nothing
  for (size_t i = 0; i < size; ++i) {
    const double p = weights[i] / sum;
    const double chance = p + p * (other - p / (1 - p));
    CAPTURE(i, chance, either[i]);
    CHECK(Deviations(either[i], chance, kTrials) < kMostDeviations + 1);  // thousands are looked at
  }
}

TEST_CASE("many draws of a list are all different, by weight at first", "[weighted_chooser]") {
  const int64_t fanout = GENERATE(31, 32, 33, 63, 90, 99);
  const double heavy = GENERATE(1.0, 50.0, 1e9);
  std::vector<double> weights(100, 1.0);
  std::fill_n(weights.begin(), 10, heavy);
  weights[50] = 0;
  Drawer drawer(weights, fanout, /*replace=*/false);
  for (uint64_t key = 0; key < 2000; ++key) {
    const std::vector<int64_t> drawn = drawer.Draw(key);
    REQUIRE(drawn.size() == static_cast<size_t>(fanout));
    REQUIRE(std::set<int64_t>(drawn.begin(), drawn.end()).size() == drawn.size());
    REQUIRE(std::count(drawn.begin(), drawn.end(), 50) == 0);
    if (heavy == 1e9) REQUIRE(*std::max_element(drawn.begin(), drawn.begin() + 10) < 10);
  }
}

TEST_CASE("weight 0 is never taken, and fewer come where fewer have weight", "[weighted_chooser]") {
  const std::vector<double> weights = {0, 3, 0, 0, 1, 0, 0, 2, 0, 0};
  const int64_t fanout = GENERATE(int64_t{3}, int64_t{5}, int64_t{9}, int64_t{10}, int64_t{40},
                                  int64_t{kAllNeighbors});
  Drawer drawer(weights, fanout, /*replace=*/false);
  for (uint64_t key = 0; key < 100; ++key) {
    std::vector<int64_t> drawn = drawer.Draw(key);
    std::sort(drawn.begin(), drawn.end());
    REQUIRE(drawn == std::vector<int64_t>{1, 4, 7});
  }
}

TEST_CASE("a list without weight gives nothing", "[weighted_chooser]") {
  const bool replace = GENERATE(false, true);
  const int64_t fanout = GENERATE(int64_t{1}, int64_t{3}, int64_t{kAllNeighbors});
  for (const size_t size : {0, 1, 3, 50}) {
    Drawer drawer(std::vector<double>(size, 0.0), fanout, replace);
    CHECK(drawer.Draw(1).empty());
  }
}

TEST_CASE("draws depend on stream, key and tree, and on nothing else", "[weighted_chooser]") {
  const int64_t fanout = GENERATE(4, 40);
  const bool replace = GENERATE(false, true);
  std::vector<double> weights(60);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 7 + 1);
  Drawer one(weights, fanout, replace);
  Drawer two(weights, fanout, replace);
  Drawer other(weights, fanout, replace, 6);
  two.Draw(9);
  CHECK(one.Draw(3) == two.Draw(3));
  CHECK(one.Draw(3, 2) == two.Draw(3, 2));
  CHECK(one.Draw(3) != one.Draw(4));
  CHECK(one.Draw(3) != one.Draw(3, 1));
  CHECK(one.Draw(3) != other.Draw(3));
}

TEST_CASE("a damaged table leads to positions of the list, if to any", "[weighted_chooser]") {
  NodeDraws random(1, 1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<AliasEntry> table(1 + random.Below(40));
    for (AliasEntry& entry : table) entry = {random.Next32(), random.Next32()};
    const auto fanout = static_cast<int64_t>(1 + random.Below(50));
    WeightedChooser chooser(fanout, random.Below(2) == 1, 3);
    const WeightedList list = {table.data(), 7, table.size(), random.Next64(), 0};
    WeightedChooser::Attempts attempts;
    chooser.Prepare(list, &attempts);
    std::vector<int64_t> positions(chooser.MostFor(table.size()));
    const uint64_t count = chooser.Choose(list, attempts, positions.data());
    REQUIRE(count <= positions.size());
    for (uint64_t i = 0; i < count; ++i) {
      REQUIRE(positions[i] >= 7);
      REQUIRE(positions[i] < 7 + static_cast<int64_t>(table.size()));
    }
  }
}

// Every third has no weight.
std::vector<uint64_t> Units(size_t size) {
  std::vector<uint64_t> units;
  for (size_t i = 0; i < size; ++i) units.push_back(i % 3 == 0 ? 0 : (i % 7 + 1) << 28);
  return units;
}

std::vector<int64_t> ChooseByUnits(UnitsChooser* chooser, const std::vector<uint64_t>& units,
                                   uint64_t key, uint32_t tree = 0) {
  std::vector<int64_t> chosen = {77};
  chooser->Choose(units, key, tree, &chosen);
  return chosen;
}

TEST_CASE("a list that is taken whole is in order, without what has no weight",
          "[weighted_chooser]") {
  const size_t size = GENERATE(10U, 64U, 65U, 300U);
  const std::vector<uint64_t> units = Units(size);
  std::vector<int64_t> weighty;
  for (size_t i = 0; i < size; ++i) {
    if (units[i] > 0) weighty.push_back(static_cast<int64_t>(i));
  }
  UnitsChooser all(kAllNeighbors, false, 5);
  CHECK(ChooseByUnits(&all, units, 9) == weighty);
  UnitsChooser many(static_cast<int64_t>(size), false, 5);
  CHECK(ChooseByUnits(&many, units, 9) == weighty);
  CHECK(ChooseByUnits(&many, {}, 9).empty());
  CHECK(ChooseByUnits(&many, std::vector<uint64_t>(size, 0), 9).empty());
}

TEST_CASE("positions are drawn in proportion to their units", "[weighted_chooser]") {
  const size_t size = GENERATE(10U, 100U);
  const std::vector<uint64_t> units = Units(size);
  double sum = 0;
  for (const uint64_t unit : units) sum += static_cast<double>(unit);
  UnitsChooser chooser(20, /*replace=*/true, 5);
  std::vector<int64_t> counts(size);
  for (uint64_t key = 0; key < 3000; ++key) {
    for (const int64_t position : ChooseByUnits(&chooser, units, key)) ++counts[position];
  }
  std::vector<int64_t> seen;
  std::vector<double> expected;
  for (size_t i = 0; i < size; ++i) {
    if (units[i] == 0) CHECK(counts[i] == 0);
    if (units[i] == 0) continue;
    seen.push_back(counts[i]);
    expected.push_back(60000 * static_cast<double>(units[i]) / sum);
  }
  CHECK(ChiSquare(seen, expected) < ChiSquareLimit(static_cast<int64_t>(seen.size()) - 1));
  std::vector<double> alike(seen.size(), 60000.0 / static_cast<double>(seen.size()));
  CHECK(ChiSquare(seen, alike) > ChiSquareLimit(static_cast<int64_t>(seen.size()) - 1));
}

TEST_CASE("without replacement nothing comes twice; another key or tree draws apart",
          "[weighted_chooser]") {
  const std::vector<uint64_t> units = Units(GENERATE(30U, 100U));
  UnitsChooser chooser(12, /*replace=*/false, 5);
  int alike = 0;
  for (uint64_t key = 0; key < 50; ++key) {
    const std::vector<int64_t> chosen = ChooseByUnits(&chooser, units, key);
    CHECK(std::set<int64_t>(chosen.begin(), chosen.end()).size() == 12);
    CHECK(ChooseByUnits(&chooser, units, key) == chosen);
    alike += ChooseByUnits(&chooser, units, key, 1) == chosen ? 1 : 0;
    alike += ChooseByUnits(&chooser, units, key + 1000) == chosen ? 1 : 0;
  }
  CHECK(alike < 10);
}

}  // namespace
}  // namespace vicinity

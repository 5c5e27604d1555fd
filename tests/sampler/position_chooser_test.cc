#include "sampler/position_chooser.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "partition/schema/sampling_spec.h"
#include "proto/common/random.h"
#include "tests/sampler/chi_square.h"

namespace vicinity {
namespace {

// Draw by draw, as the header says: Floyd's algorithm on the node's stream.
std::vector<int64_t> OneByOne(int64_t fanout, bool replace, uint64_t stream, uint64_t key,
                              uint32_t tree, uint64_t begin, uint64_t degree) {
  std::vector<int64_t> positions;
  if (fanout == kAllNeighbors || (!replace && degree <= static_cast<uint64_t>(fanout))) {
    positions.resize(degree);
    std::iota(positions.begin(), positions.end(), static_cast<int64_t>(begin));
    return positions;
  }
  NodeDraws draws(stream, key, tree);
  for (int64_t i = 0; degree > 0 && i < fanout; ++i) {
    const uint64_t j = degree - static_cast<uint64_t>(fanout) + static_cast<uint64_t>(i);
    int64_t position = static_cast<int64_t>(begin + draws.Below(replace ? degree : j + 1));
    if (!replace && std::count(positions.begin(), positions.end(), position) > 0) {
      position = static_cast<int64_t>(begin + j);
    }
    positions.push_back(position);
  }
  return positions;
}

TEST_CASE("positions are those of the simple algorithm", "[position_chooser]") {
  const bool replace = GENERATE(false, true);
  for (const int64_t fanout :
       {int64_t{1}, int64_t{2}, int64_t{4}, int64_t{5}, int64_t{8}, int64_t{9}, int64_t{12},
        int64_t{13}, int64_t{15}, int64_t{16}, int64_t{17}, int64_t{32}, int64_t{33}, int64_t{100},
        kAllNeighbors}) {
    for (const uint64_t degree : {0u, 1u, 2u, 5u, 6u, 16u, 17u, 18u, 40u, 101u, 1000u}) {
      for (uint64_t key = 0; key < 200; ++key) {
        PositionChooser chooser(fanout, replace, 7 * key + 1);
        std::vector<int64_t> positions(chooser.CountFor(degree));
        const uint32_t tree = key % 3 == 0 ? 0 : static_cast<uint32_t>(key * 0x9e3779b9);
        chooser.Choose(1000, degree, key, tree, positions.data());
        const std::vector<int64_t> expected =
            OneByOne(fanout, replace, 7 * key + 1, key, tree, 1000, degree);
        if (positions == expected) continue;  // a million checks would be slow
        CAPTURE(fanout, replace, degree, key);
        CHECK(positions == expected);
      }
    }
  }
}

TEST_CASE("long lists have other draws again, and positions beyond 32 bits", "[position_chooser]") {
  const bool replace = GENERATE(false, true);
  // Just above 3/4 of 2^32 a quarter of the words are drawn again.
  const uint64_t degree = GENERATE((uint64_t{1} << 31) - 1, uint64_t{1} << 31,
                                   (uint64_t{3} << 30) + 1, (uint64_t{1} << 40) + 12345);
  const uint64_t begin = uint64_t{1} << 41;
  for (uint64_t key = 0; key < 300; ++key) {
    PositionChooser chooser(5, replace, 3);
    std::vector<int64_t> positions(5);
    chooser.Choose(begin, degree, key, 0, positions.data());
    CHECK(positions == OneByOne(5, replace, 3, key, 0, begin, degree));
  }
}

TEST_CASE("every subset is equally likely", "[position_chooser]") {
  const uint64_t degree = GENERATE(3u, 5u, 7u);
  const int64_t fanout = GENERATE(1, 2);
  PositionChooser chooser(fanout, /*replace=*/false, 99);
  std::map<std::set<int64_t>, int64_t> seen;
  constexpr int64_t kDraws = 200000;
  for (int64_t key = 0; key < kDraws; ++key) {
    std::vector<int64_t> positions(fanout);
    chooser.Choose(0, degree, static_cast<uint64_t>(key), 0, positions.data());
    ++seen[std::set<int64_t>(positions.begin(), positions.end())];
  }
  const size_t num_subsets = fanout == 1 ? degree : degree * (degree - 1) / 2;
  REQUIRE(seen.size() == num_subsets);
  std::vector<int64_t> counts;
  for (const auto& [subset, count] : seen) counts.push_back(count);
  const double expected = static_cast<double>(kDraws) / static_cast<double>(num_subsets);
  CHECK(testing::ChiSquare(counts, std::vector<double>(num_subsets, expected)) <
        testing::ChiSquareLimit(static_cast<int64_t>(num_subsets) - 1));
}

}  // namespace
}  // namespace vicinity

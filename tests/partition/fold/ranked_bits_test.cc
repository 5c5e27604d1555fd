#include "partition/fold/ranked_bits.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <set>

namespace vicinity {
namespace {

TEST_CASE("ranks are how many numbers there are below, wherever bits were set and cleared",
          "[ranked_bits]") {
  std::mt19937_64 random(1);
  for (const bool full : {false, true}) {
    for (const int64_t size : {0, 1, 63, 64, 65, 511, 512, 513, 5000}) {
      CAPTURE(full, size);
      RankedBits bits(size, full);
      std::set<int64_t> there;
      for (int64_t i = 0; full && i < size; ++i) there.insert(i);
      for (int64_t n = 0; n < size / 3; ++n) {
        const auto i = static_cast<int64_t>(random() % size);
        if (full) {
          bits.Clear(i);
          there.erase(i);
        } else {
          bits.Set(i);
          there.insert(i);
        }
      }
      bits.Seal();
      CHECK(bits.count() == static_cast<int64_t>(there.size()));
      int64_t below = 0;
      for (int64_t i = 0; i < size + 70; ++i) {
        REQUIRE(bits.Has(i) == (there.count(i) > 0));
        REQUIRE(bits.Rank(i) == below);
        below += bits.Has(i) ? 1 : 0;
      }
    }
  }
}

TEST_CASE("bits grow to whatever number is set", "[ranked_bits]") {
  RankedBits bits;
  bits.Set(1'000'000);
  bits.Set(3);
  bits.Seal();
  CHECK(bits.count() == 2);
  CHECK(bits.Rank(1'000'000) == 1);
  CHECK(bits.Rank(1'000'001) == 2);
  CHECK_FALSE(bits.Has(999'999));
}

}  // namespace
}  // namespace vicinity

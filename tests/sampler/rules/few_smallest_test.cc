#include "sampler/rules/few_smallest.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "absl/types/span.h"

namespace vicinity {
namespace {

constexpr uint64_t kLow = UINT64_C(0xffffffff);

std::vector<int64_t> BySorting(const std::vector<uint64_t>& keys, size_t most) {
  std::vector<int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
  order.resize(most);
  std::sort(order.begin(), order.end());
  return order;
}

// Keys of which no two have the same upper half, some of them at the ends of what these may be.
std::vector<uint64_t> RandomKeys(size_t size, std::mt19937_64* random) {
  std::vector<uint64_t> keys;
  while (keys.size() < size) {
    uint64_t key = (*random)();
    if ((*random)() % 8 == 0) key |= ~kLow;
    if ((*random)() % 8 == 0) key &= kLow;
    const bool again =
        std::any_of(keys.begin(), keys.end(), [&](uint64_t each) { return (each ^ key) <= kLow; });
    if (!again) keys.push_back(key);
  }
  return keys;
}

TEST_CASE("the smallest of a few keys are those that sorting finds", "[few_smallest]") {
  std::mt19937_64 random(1);
  for (size_t size = 1; size <= MostFew(); ++size) {
    for (size_t most = 1; most <= size; ++most) {
      CAPTURE(size, most);
      const std::vector<uint64_t> keys = RandomKeys(size, &random);
      std::vector<int64_t> out(most);
      REQUIRE(FewSmallest(absl::MakeConstSpan(keys), most, out.data()));
      REQUIRE(out == BySorting(keys, most));
      if (size > 32) continue;
      std::fill(out.begin(), out.end(), -1);
      REQUIRE(FewSmallestPlainly(absl::MakeConstSpan(keys), most, out.data()));
      REQUIRE(out == BySorting(keys, most));
    }
  }
}

TEST_CASE("keys that differ only in their lower halves are told where it does not matter",
          "[few_smallest]") {
  // Two share an upper half: those are the third and the fourth smallest.
  const std::vector<uint64_t> keys = {kLow * 5, UINT64_C(0x2000000001), 0, UINT64_C(0x2000000002),
                                      UINT64_MAX};
  std::vector<int64_t> out(5);
  for (const auto find : {FewSmallest, FewSmallestPlainly}) {
    for (const uint64_t most : {1, 2, 4, 5}) {
      out.assign(most, -1);
      const bool told = find(absl::MakeConstSpan(keys), most, out.data());
      CAPTURE(most, told);
      if (told) {
        CHECK(out == BySorting(keys, most));
      }
    }
    CHECK(find(absl::MakeConstSpan(keys), 1, out.data()));
    CHECK(find(absl::MakeConstSpan(keys), 4, out.data()));
    CHECK_FALSE(find(absl::MakeConstSpan(keys), 3, out.data()));
  }
}

TEST_CASE("keys whose upper halves are the largest there are may be chosen", "[few_smallest]") {
  const std::vector<uint64_t> keys = {UINT64_MAX, 5, UINT64_MAX - 1};
  std::vector<int64_t> out(3);
  REQUIRE(FewSmallest(absl::MakeConstSpan(keys), 3, out.data()));
  CHECK(out == std::vector<int64_t>{0, 1, 2});
  REQUIRE(FewSmallest(absl::MakeConstSpan(keys), 1, out.data()));
  CHECK(out[0] == 1);
}

}  // namespace
}  // namespace vicinity

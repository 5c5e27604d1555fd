#include "sampler/rules/source_numbers.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "absl/types/span.h"

namespace vicinity {
namespace {

TEST_CASE("the number of a source is that of the formula", "[source_numbers]") {
  CHECK(SourceNumbers(0).Of(0) == UINT64_C(0x8aed0390bd5bae2));
  CHECK(SourceNumbers(0).Of(1) == UINT64_C(0x956c0678708de053));
  CHECK(SourceNumbers(77).Of(12345678901) == UINT64_C(0x19b2bf9d2cd36d1b));
  CHECK(SourceNumbers(0xfedcba9876543210).Of(12345678901, 2) == UINT64_C(0x2105b38cdcc3e14a));
}

struct Kept {
  std::vector<uint64_t> keys;
  std::vector<int64_t> places;
};

template <typename Source>
Kept ByHand(const std::vector<Source>& sources, uint64_t stream, uint64_t limit) {
  const SourceNumbers numbers(stream);
  Kept kept;
  for (size_t i = 0; i < sources.size(); ++i) {
    size_t first = i;
    while (first > 0 && sources[first - 1] == sources[i]) --first;
    const uint64_t key = numbers.Of(static_cast<uint64_t>(sources[i]), i - first);
    if (key > limit) continue;
    kept.keys.push_back(key);
    kept.places.push_back(static_cast<int64_t>(i));
  }
  return kept;
}

// In pieces of some size, of memory that has no byte more than it must.
template <typename Source>
Kept Filtered(const std::vector<Source>& sources, uint64_t stream, uint64_t limit, size_t piece,
              bool plainly) {
  NumberFilter<Source> filter(SourceNumbers(stream), absl::MakeConstSpan(sources), limit);
  Kept kept;
  for (size_t first = 0; first < sources.size(); first += piece) {
    const size_t end = std::min(first + piece, sources.size());
    std::vector<uint64_t> keys(end - first + NumberFilter<Source>::kSlack);
    std::vector<int64_t> places(keys.size());
    const size_t count = plainly ? filter.TakePlainly(end, keys.data(), places.data())
                                 : filter.Take(end, keys.data(), places.data());
    kept.keys.insert(kept.keys.end(), keys.begin(), keys.begin() + static_cast<int64_t>(count));
    kept.places.insert(kept.places.end(), places.begin(),
                       places.begin() + static_cast<int64_t>(count));
  }
  return kept;
}

TEMPLATE_TEST_CASE("edges with small numbers are those that are found one by one",
                   "[source_numbers]", uint32_t, uint64_t, int64_t) {
  std::mt19937_64 random(3);
  const size_t piece = GENERATE(1, 5, 8, 13, 64, 1024);
  const uint64_t limit = GENERATE(uint64_t{0}, UINT64_MAX / 9, UINT64_MAX / 2 + 7, UINT64_MAX);
  for (const size_t size : {0, 1, 2, 7, 8, 9, 15, 16, 17, 40, 301}) {
    // With 1 there are only parallel edges; 4 and 50 have long and short runs of them.
    for (const uint64_t num_sources : {uint64_t{1}, uint64_t{4}, uint64_t{50}, uint64_t{1} << 32}) {
      const uint64_t stream = random();
      CAPTURE(piece, limit, size, num_sources, stream);
      std::vector<TestType> sources(size);
      for (TestType& source : sources) source = static_cast<TestType>(random() % num_sources);
      if (size % 2 == 0) std::sort(sources.begin(), sources.end());
      const Kept expected = ByHand(sources, stream, limit);
      for (const bool plainly : {false, true}) {
        const Kept found = Filtered(sources, stream, limit, piece, plainly);
        REQUIRE(found.keys == expected.keys);
        REQUIRE(found.places == expected.places);
      }
    }
  }
}

}  // namespace
}  // namespace vicinity

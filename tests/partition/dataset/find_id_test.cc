#include "partition/dataset/find_id.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace vicinity {
namespace {

TEMPLATE_TEST_CASE("an id is found where it comes first, in lists of any length", "[find_id]",
                   uint32_t, uint64_t) {
  std::mt19937_64 random(1);
  for (size_t size = 0; size < 400; ++size) {
    // Few different ids, so that most come several times; and many, of which most are not there.
    for (const uint64_t num_ids : {uint64_t{3}, uint64_t{200}, uint64_t{UINT32_MAX}}) {
      std::vector<TestType> ids(size);
      for (TestType& id : ids) id = static_cast<TestType>(random() % num_ids);
      for (int tries = 0; tries < 20; ++tries) {
        const bool there = size > 0 && tries % 2 == 0;
        const TestType wanted =
            there ? ids[random() % size] : static_cast<TestType>(random() % num_ids);
        const auto expected = std::find(ids.begin(), ids.end(), wanted) - ids.begin();
        REQUIRE(FindId(ids.data(), static_cast<int64_t>(size), wanted) == expected);
      }
    }
  }
}

TEST_CASE("the only one of its kind is found at every place", "[find_id]") {
  for (const size_t size : {1, 3, 4, 5, 15, 16, 17, 31, 33, 127, 128, 129, 160, 300}) {
    std::vector<uint32_t> ids(size, 0);
    for (size_t place = 0; place < size; ++place) {
      ids[place] = UINT32_MAX;
      REQUIRE(FindId(ids.data(), static_cast<int64_t>(size), UINT32_MAX) ==
              static_cast<int64_t>(place));
      ids[place] = 0;
    }
    REQUIRE(FindId(ids.data(), static_cast<int64_t>(size), uint32_t{1}) ==
            static_cast<int64_t>(size));
  }
}

}  // namespace
}  // namespace vicinity

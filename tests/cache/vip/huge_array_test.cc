#include "cache/vip/huge_array.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("a huge array is zeros, and moves with what was written", "[huge_array]") {
  const int64_t size = GENERATE(1, 1000, 3 << 20);
  VICINITY_ASSERT_OK_AND_ASSIGN(HugeArray array, HugeArray::Create(size));
  REQUIRE(array.size() == size);
  CHECK(std::all_of(array.data(), array.data() + size, [](float x) { return x == 0; }));
  array.data()[size - 1] = 7;
  HugeArray moved = std::move(array);
  CHECK(moved.data()[size - 1] == 7);
  HugeArray assigned;
  assigned = std::move(moved);
  CHECK(assigned.size() == size);
  CHECK(assigned.data()[size - 1] == 7);
}

TEST_CASE("a huge array of nothing needs nothing, and one of too much is refused", "[huge_array]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const HugeArray none, HugeArray::Create(0));
  CHECK(none.size() == 0);
  VICINITY_CHECK_CODE(HugeArray::Create(int64_t{1} << 57).status(),
                      absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace vicinity

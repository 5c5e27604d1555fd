#include "partition/overlay/hot_rows.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace vicinity {
namespace {

std::string RowOf(uint64_t row) { return std::string(8, static_cast<char>('a' + row % 26)); }

TEST_CASE("rows are found in their slots until others have them", "[hot_rows]") {
  HotRows hot(16 << 10);  // two blocks of 1024 rows
  std::vector<int64_t> slots;
  for (uint64_t row = 0; row < 3000; ++row) slots.push_back(hot.Keep(1, {row, 5}, RowOf(row)));
  CHECK(hot.bytes() == 16 << 10);
  for (uint64_t row = 0; row < 3000; ++row) {
    const char* const found = hot.PartOf(1).Find(slots[row], {row, 5});
    CAPTURE(row);
    if (row < 3000 - 2048) {
      CHECK(found == nullptr);
    } else {
      REQUIRE(found != nullptr);
      CHECK(std::memcmp(found, RowOf(row).data(), 8) == 0);
    }
    CHECK(hot.PartOf(1).Find(slots[row], {row, 6}) == nullptr);
  }
  CHECK(hot.PartOf(1).Find(HotRows::kNone, {0, 5}) == nullptr);
  CHECK(hot.Keep(2, {0, 5}, RowOf(0)) == HotRows::kNone);  // it came too late
}

}  // namespace
}  // namespace vicinity

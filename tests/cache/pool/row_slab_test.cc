#include "cache/pool/row_slab.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <vector>

namespace vicinity {
namespace {

TEST_CASE("rows of a slab stay where they are, apart from each other, while it grows",
          "[row_slab]") {
  const int64_t row_bytes = GENERATE(1, 5, 64);
  RowSlab slab(row_bytes);
  std::vector<char*> rows;
  for (const int64_t num_rows : {0, 1, 63, 64, 65, 200, 5000, 100}) {
    REQUIRE(slab.Grow(num_rows));
    REQUIRE(slab.num_rows() >= num_rows);
    for (int64_t slot = static_cast<int64_t>(rows.size()); slot < num_rows; ++slot) {
      rows.push_back(slab.Row(static_cast<int32_t>(slot)));
      std::memset(rows.back(), static_cast<int>(slot % 251), row_bytes);
    }
  }
  for (size_t slot = 0; slot < rows.size(); ++slot) {
    REQUIRE(slab.Row(static_cast<int32_t>(slot)) == rows[slot]);
    const std::vector<char> expected(row_bytes, static_cast<char>(slot % 251));
    REQUIRE(std::memcmp(rows[slot], expected.data(), row_bytes) == 0);
  }
}

TEST_CASE("a slab that slots could not number is refused", "[row_slab]") {
  RowSlab slab(1);
  CHECK_FALSE(slab.Grow(int64_t{1} << 31));
  CHECK(slab.num_rows() == 0);
}

}  // namespace
}  // namespace vicinity

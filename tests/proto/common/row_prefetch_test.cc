#include "proto/common/row_prefetch.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

namespace vicinity {
namespace {

TEST_CASE("about 4 KiB are asked for ahead, and at least one row", "[row_prefetch]") {
  CHECK(PrefetchDistance(512) == 8);
  CHECK(PrefetchDistance(4096) == 1);
  CHECK(PrefetchDistance(int64_t{1} << 40) == 1);
  for (const int64_t narrow : {0, 1, 4, 128}) CHECK(PrefetchDistance(narrow) == 32);
}

TEST_CASE("a hint changes nothing", "[row_prefetch]") {
  const std::vector<char> before(3 * kPrefetchBytes, 'a');
  const std::vector<char> rows = before;
  for (const int64_t row_bytes : {int64_t{0}, int64_t{1}, int64_t{512}, 3 * kPrefetchBytes}) {
    PrefetchRow(rows.data(), row_bytes);
    PrefetchPlace(rows.data(), row_bytes);
  }
  PrefetchRow(nullptr, 0);
  CHECK(rows == before);
}

}  // namespace
}  // namespace vicinity

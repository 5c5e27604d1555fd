#include "proto/common/row_prefetch.h"

#include <catch2/catch.hpp>
#include <cstdint>

namespace vicinity {
namespace {

TEST_CASE("about 4 KiB are asked for ahead, and at least one row", "[row_prefetch]") {
  CHECK(PrefetchDistance(512) == 8);
  CHECK(PrefetchDistance(4096) == 1);
  CHECK(PrefetchDistance(int64_t{1} << 40) == 1);
  for (const int64_t narrow : {0, 1, 4, 128}) CHECK(PrefetchDistance(narrow) == 32);
}

TEST_CASE("a hint may point anywhere", "[row_prefetch]") {
  PrefetchRow(nullptr, 0);
  PrefetchRow(nullptr, int64_t{1} << 40);
  PrefetchPlace(nullptr, 512);
  SUCCEED();
}

}  // namespace
}  // namespace vicinity

#include "partition/overlay/changed_bits.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <thread>

namespace vicinity {
namespace {

TEST_CASE("bits that were set are set, and no others", "[changed_bits]") {
  constexpr int64_t kRows = 100'000;
  ChangedBits bits(kRows);
  CHECK_FALSE(bits.any());
  const std::set<uint64_t> rows = {0, 1, 63, 64, 32767, 32768, 99'999};
  for (const uint64_t row : rows) bits.Set(row);
  bits.Set(kRows * 2);  // of a new row
  CHECK(bits.any());
  for (uint64_t row = 0; row < kRows; ++row) {
    if (bits.Has(row) != (rows.count(row) > 0)) FAIL("row " << row);
  }
  CHECK_FALSE(bits.Has(kRows * 2));
}

TEST_CASE("bits are read while others are set", "[changed_bits]") {
  constexpr uint64_t kRows = 200'000;
  ChangedBits bits(kRows);
  std::atomic<uint64_t> told{0};
  bool all = true;
  std::thread reader([&] {
    for (uint64_t until = 0; until < kRows;) {
      until = told.load(std::memory_order_acquire);
      if (until > 0) all = all && bits.Has(until - 1) && bits.Has(until / 2);
    }
  });
  for (uint64_t row = 0; row < kRows; ++row) {
    bits.Set(row);
    told.store(row + 1, std::memory_order_release);
  }
  reader.join();
  CHECK(all);
}

}  // namespace
}  // namespace vicinity

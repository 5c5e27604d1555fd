#include "cache/pool/use_ring.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <random>

#include "cache/pool/row_index.h"

namespace vicinity {
namespace {

TEST_CASE("the ring agrees with a plain list over random calls", "[use_ring]") {
  struct Naive {
    int64_t id;
    bool marked;
  };
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    uint32_t begin = static_cast<uint32_t>(random() % 3 * (1u << 31) - random() % 2000);
    UseRing ring(begin);
    std::deque<Naive> naive;
    for (int step = 0; step < 300; ++step) {
      const uint32_t size = naive.size();
      const uint64_t choice = random() % 8;
      if (choice < 3) {
        const size_t num_more = random() % 40;
        ring.Reserve(num_more);
        for (size_t i = 0; i < num_more; ++i) {
          naive.push_back({static_cast<int64_t>(random() >> 20), false});
          const uint32_t position = ring.end();
          ring.Append(RowKey(naive.back().id, 5), i);
          REQUIRE(ring.next(position) == position);
        }
      } else if (choice < 6 && size > 0) {
        const uint32_t i = random() % size;
        ring.MarkIf(false, begin + random() % size);
        ring.MarkIf(true, begin + i);
        naive[i].marked = true;
      } else if (choice == 6) {
        // Marks may lie in the second half only, as in a window some of which is admitted.
        const uint32_t half = size / 2;
        ring.Unmark(begin, begin + half);
        for (uint32_t i = 0; i < half; ++i) naive[i].marked = false;
        int64_t last = int64_t{size} - 1;
        while (last >= 0 && !naive[last].marked) --last;
        uint32_t position = 0;
        REQUIRE(ring.TakeLastMarked(begin + half, &position) == (last >= 0));
        if (last >= 0) {
          REQUIRE(position == begin + static_cast<uint32_t>(last));
          naive[last].marked = false;
        }
      } else if (size > 0) {
        const uint32_t num_gone = random() % size;
        ring.Unmark(begin, begin + num_gone);
        begin += num_gone;
        ring.DropUntil(begin);
        naive.erase(naive.begin(), naive.begin() + num_gone);
      }
      REQUIRE(ring.begin() == begin);
      REQUIRE(ring.end() - begin == naive.size());
      REQUIRE_FALSE(ring.Contains(begin - 1));
      REQUIRE_FALSE(ring.Contains(ring.end()));
      for (uint32_t i = 0; i < naive.size(); ++i) {
        if (ring.key(begin + i).id() != naive[i].id) FAIL("position " << begin + i);
      }
    }
  }
}

}  // namespace
}  // namespace vicinity

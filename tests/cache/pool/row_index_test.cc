#include "cache/pool/row_index.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <unordered_map>

namespace vicinity {
namespace {

TEST_CASE("a key holds the largest id and class", "[row_index]") {
  const RowKey key(RowKey::kMaxId, 1023);
  CHECK(key.id() == RowKey::kMaxId);
  CHECK(key.likelihood() == 1023);
  CHECK_FALSE(key.is_none());
  CHECK(RowKey().is_none());
  CHECK_FALSE(RowKey(RowKey::kMaxId, 1023) == RowKey());
}

TEST_CASE("the index agrees with a map over random calls", "[row_index]") {
  std::mt19937_64 random(7);
  for (const int64_t step : {int64_t{1}, int64_t{64}, int64_t{1} << 40}) {
    CAPTURE(step);
    RowIndex index;
    std::unordered_map<int64_t, int32_t> map;
    for (int i = 0; i < 100000; ++i) {
      const int64_t id = static_cast<int64_t>(random() % 2000) * step;
      // More come than go for a while, then the other way round.
      const bool wants_it = random() % 100 < (i % 20000 < 10000 ? 70 : 30);
      RowEntry* const entry = index.Find(id);
      REQUIRE((entry != nullptr) == (map.count(id) > 0));
      if (entry != nullptr) {
        REQUIRE(entry->slot == map.at(id));
        REQUIRE(entry->key == RowKey(id, id % 1024));
      }
      if (entry == nullptr && wants_it) {
        index.Reserve(1);
        index.Add(RowKey(id, id % 1024))->slot = i;
        map[id] = i;
      } else if (entry != nullptr && !wants_it) {
        index.Remove(entry);
        map.erase(id);
      }
      REQUIRE(index.size() == static_cast<int64_t>(map.size()));
    }
  }
}

}  // namespace
}  // namespace vicinity

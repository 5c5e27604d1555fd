#include "cache/pool/cold_rows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include "cache/pool/row_index.h"
#include "cache/pool/use_ring.h"

namespace vicinity {
namespace {

// Rows that are used one after another, each use gone from the ring at once.
class ColdRowsFixture {
 public:
  void GoCold(int64_t id, uint16_t likelihood) {
    const RowKey key(id, likelihood);
    ring_.Reserve(1);
    const uint32_t position = ring_.end();
    ring_.Append(key, 0);
    RowEntry* entry = index_.Find(id);
    const bool was_cold = entry != nullptr;
    if (!was_cold) {
      index_.Reserve(1);
      entry = index_.Add(key);
      entry->slot = 0;
    }
    entry->last_use = position;
    if (was_cold) cold_.Remove(key);
    ring_.DropUntil(ring_.end());
    cold_.Add(key, position);
  }

  std::vector<int64_t> Take(int64_t num_rows) {
    std::vector<int64_t> ids;
    cold_.TakeWorst(num_rows, &ids);
    for (const int64_t id : ids) index_.Remove(index_.Find(id));
    return ids;
  }

  int64_t size() const { return cold_.size(); }

 private:
  RowIndex index_;
  UseRing ring_{1};
  ColdRows cold_{&index_, &ring_};
};

TEST_CASE("the least likely row goes first, and of its class the longest unused", "[cold_rows]") {
  ColdRowsFixture rows;
  rows.GoCold(1, 10);
  rows.GoCold(2, 1023);
  rows.GoCold(3, 10);
  rows.GoCold(4, 0);
  rows.GoCold(1, 10);  // used again: now after 3
  CHECK(rows.size() == 4);
  CHECK(rows.Take(2) == std::vector<int64_t>{2, 3});
  CHECK(rows.Take(9) == std::vector<int64_t>{1, 4});
  CHECK(rows.size() == 0);
  CHECK(rows.Take(1).empty());
}

TEST_CASE("random rows leave in the order of a sort", "[cold_rows]") {
  std::mt19937_64 random(3);
  ColdRowsFixture rows;
  std::vector<int64_t> used(500, -1);  // when last; -1: not cold
  const auto likelihood = [](int64_t id) { return static_cast<uint16_t>(id * 37 % 11 * 100); };
  for (int64_t now = 0; now < 100000; ++now) {
    const int64_t id = random() % used.size();
    rows.GoCold(id, likelihood(id));
    used[id] = now;
    if (random() % 50 > 0) continue;
    std::vector<int64_t> expected;
    for (size_t i = 0; i < used.size(); ++i) {
      if (used[i] >= 0) expected.push_back(static_cast<int64_t>(i));
    }
    REQUIRE(rows.size() == static_cast<int64_t>(expected.size()));
    std::sort(expected.begin(), expected.end(), [&](int64_t a, int64_t b) {
      return std::make_tuple(-likelihood(a), used[a]) < std::make_tuple(-likelihood(b), used[b]);
    });
    expected.resize(std::min<size_t>(expected.size(), random() % 60));
    REQUIRE(rows.Take(expected.size()) == expected);
    for (const int64_t gone : expected) used[gone] = -1;
  }
}

}  // namespace
}  // namespace vicinity

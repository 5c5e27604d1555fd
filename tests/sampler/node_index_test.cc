#include "sampler/node_index.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "proto/common/random.h"

namespace vicinity {
namespace {

TEST_CASE("a node index gives each node the position where it was first met", "[node_index]") {
  const bool wide = GENERATE(false, true);
  NodeIndex index(wide);
  NodeDraws draws(3, wide ? 1 : 0);
  for (const int num_ids : {0, 1, 40, 30000, 5, 3}) {
    std::vector<int64_t> ids;
    std::map<int64_t, int32_t> expected;
    for (int i = 0; i < num_ids; ++i) {
      // Wide ids often differ in their high halves alone.
      const int64_t id =
          static_cast<int64_t>(draws.Below(num_ids) + (wide ? draws.Below(3) << 32 : uint64_t{0}));
      const int32_t next = static_cast<int32_t>(expected.size());
      const int32_t position = expected.emplace(id, next).first->second;
      REQUIRE(index.FindOrAdd(id, &ids) == position);
    }
    REQUIRE(ids.size() == expected.size());
    for (const auto& [id, position] : expected) REQUIRE(ids[position] == id);
    index.Clear(ids.size());
  }
}

TEST_CASE("a node index takes the largest ids", "[node_index]") {
  NodeIndex narrow(false), wide(true);
  std::vector<int64_t> narrow_ids, wide_ids;
  CHECK(narrow.FindOrAdd(UINT32_MAX, &narrow_ids) == 0);
  CHECK(narrow.FindOrAdd(0, &narrow_ids) == 1);
  CHECK(narrow.FindOrAdd(UINT32_MAX, &narrow_ids) == 0);
  CHECK(wide.FindOrAdd(INT64_MAX, &wide_ids) == 0);
  CHECK(wide.FindOrAdd(UINT32_MAX, &wide_ids) == 1);
  CHECK(wide.FindOrAdd(INT64_MAX, &wide_ids) == 0);
}

TEST_CASE("a node index gives memory back after an unusually large batch", "[node_index]") {
  NodeIndex index;
  std::vector<int64_t> ids;
  for (int64_t id = 0; id < 100000; ++id) index.FindOrAdd(id, &ids);
  const size_t large = index.num_slots();
  CHECK(large >= 2 * ids.size());
  index.Clear(ids.size());
  CHECK(index.num_slots() == large);
  for (int i = 0; i < 40; ++i) index.Clear(10);
  CHECK(index.num_slots() <= 160);
}

}  // namespace
}  // namespace vicinity

#include "sampler/node_index.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/types/span.h"
#include "proto/common/random.h"

namespace vicinity {
namespace {

int32_t FindOrAdd(NodeIndex* index, int64_t id, std::vector<int64_t>* known) {
  int32_t position = -1;
  index->FindOrAdd({id}, known, &position);
  return position;
}

TEST_CASE("a node index gives each node the position where it was first met", "[node_index]") {
  const bool wide = GENERATE(false, true);
  NodeIndex index(wide);
  NodeDraws draws(3, wide ? 1 : 0);
  for (const int num_ids : {0, 1, 40, 30000, 5, 3}) {
    std::vector<int64_t> ids;
    std::map<int64_t, int32_t> expected;
    std::vector<int64_t> asked;
    std::vector<int32_t> positions;
    for (int i = 0; i < num_ids; ++i) {
      // Wide ids often differ in their high halves alone.
      const int64_t id =
          static_cast<int64_t>(draws.Below(num_ids) + (wide ? draws.Below(3) << 32 : uint64_t{0}));
      const int32_t next = static_cast<int32_t>(expected.size());
      asked.push_back(id);
      positions.push_back(expected.emplace(id, next).first->second);
    }
    // In two calls, the first of them of any size.
    const auto first = static_cast<size_t>(draws.Below(static_cast<uint64_t>(num_ids) + 1));
    std::vector<int32_t> found(asked.size());
    const auto span = absl::MakeConstSpan(asked);
    index.FindOrAdd(span.subspan(0, first), &ids, found.data());
    index.FindOrAdd(span.subspan(first), &ids, found.data() + first);
    REQUIRE(found == positions);
    REQUIRE(ids.size() == expected.size());
    for (const auto& [id, position] : expected) REQUIRE(ids[position] == id);
    // Looked up without being added, with ids that were not met, and others of the same low half.
    asked.push_back(num_ids);
    positions.push_back(-1);
    if (wide) {
      asked.push_back(int64_t{3} << 32);
      positions.push_back(-1);
    }
    found.resize(asked.size());
    const std::vector<int64_t> before = ids;
    index.Find(asked, ids, found.data());
    REQUIRE(found == positions);
    REQUIRE(ids == before);
    index.Clear(ids.size());
  }
}

TEST_CASE("a node index takes the largest ids", "[node_index]") {
  NodeIndex narrow(false), wide(true);
  std::vector<int64_t> narrow_ids, wide_ids;
  CHECK(FindOrAdd(&narrow, UINT32_MAX, &narrow_ids) == 0);
  CHECK(FindOrAdd(&narrow, 0, &narrow_ids) == 1);
  CHECK(FindOrAdd(&narrow, UINT32_MAX, &narrow_ids) == 0);
  CHECK(FindOrAdd(&wide, INT64_MAX, &wide_ids) == 0);
  CHECK(FindOrAdd(&wide, UINT32_MAX, &wide_ids) == 1);
  CHECK(FindOrAdd(&wide, INT64_MAX, &wide_ids) == 0);
}

TEST_CASE("a node index gives memory back after an unusually large batch", "[node_index]") {
  NodeIndex index;
  std::vector<int64_t> ids;
  for (int64_t id = 0; id < 100000; ++id) FindOrAdd(&index, id, &ids);
  const size_t large = index.num_slots();
  CHECK(large >= 2 * ids.size());
  index.Clear(ids.size());
  CHECK(index.num_slots() == large);
  for (int i = 0; i < 40; ++i) index.Clear(10);
  CHECK(index.num_slots() <= 160);
}

}  // namespace
}  // namespace vicinity

#include "sampler/relations/nonempty_lists.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "tests/sampler/relations/many_relations.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::ManyRelations;

const auto kNeverStops = [] { return false; };

TEST_CASE("the bits of lists are what their degrees say", "[nonempty_lists]") {
  const int num_relations = GENERATE(1, 2, 3, 30, 63, 64, 65, 130);
  const ManyRelations stored(num_relations);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const NonemptyLists lists,
      NonemptyLists::Find(stored.shard(), ManyRelations::kNodes, stored.types(), kNeverStops));
  const int64_t num_nodes = lists.num_nodes();
  CHECK(num_nodes == 200);
  CHECK(lists.num_edge_types() == num_relations);
  CHECK(lists.num_bytes() == NonemptyLists::BytesFor(num_nodes, num_relations));
  // Of the offsets that they are found from.
  if (num_relations > 1) CHECK(lists.num_bytes() * 32 <= (num_nodes + 1) * num_relations * 8);

  std::vector<uint64_t> rows;  // in no order, some of them twice
  for (int64_t i = 0; i < 2 * num_nodes; ++i) rows.push_back(i * 37 % num_nodes);
  std::vector<std::vector<uint32_t>> found(num_relations);
  lists.Split(rows, &found);
  int64_t num_nonempty = 0;
  for (int type = 0; type < num_relations; ++type) {
    const std::vector<int64_t> degrees = stored.Degrees({type});
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < rows.size(); ++i) {
      if (degrees[rows[i]] > 0) expected.push_back(i);
    }
    CHECK(found[type] == expected);
    for (const int64_t degree : degrees) num_nonempty += degree > 0 ? 1 : 0;
  }
  CHECK(lists.num_nonempty() == num_nonempty);
}

TEST_CASE("more rows than are read at once", "[nonempty_lists]") {
  const ManyRelations stored(3, 150'000, 100'000);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const NonemptyLists lists,
      NonemptyLists::Find(stored.shard(), ManyRelations::kNodes, stored.types(), kNeverStops));
  std::vector<uint64_t> rows;
  for (uint64_t i = 0; i < 150'000; ++i) rows.push_back(i);
  std::vector<std::vector<uint32_t>> found(3);
  lists.Split(rows, &found);
  for (int type = 0; type < 3; ++type) {
    const std::vector<int64_t> degrees = stored.Degrees({type});
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < rows.size(); ++i) {
      if (degrees[i] > 0) expected.push_back(i);
    }
    CHECK(found[type] == expected);
  }
}

TEST_CASE("who looks for bits stops when told", "[nonempty_lists]") {
  const ManyRelations stored(30);
  int looks = 0;
  VICINITY_CHECK_CODE(NonemptyLists::Find(stored.shard(), ManyRelations::kNodes, stored.types(),
                                          [&] { return ++looks == 7; })
                          .status(),
                      absl::StatusCode::kCancelled);
  CHECK(looks == 7);
}

TEST_CASE("damaged offsets give no bits", "[nonempty_lists]") {
  const ManyRelations stored(5);
  testing::FlipBit(stored.OffsetsOf(3), 200);
  VICINITY_CHECK_CODE(
      NonemptyLists::Find(stored.shard(), ManyRelations::kNodes, stored.types(), kNeverStops)
          .status(),
      absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vicinity

#include "partition/cut/range_assigner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"
#include "tests/contract/assigner_contract.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("a range assigner keeps the contract of all", "[partition]") {
  testing::AssignerKind kind;
  kind.make = [](const Dataset&, int32_t) { return std::make_unique<RangeAssigner>(); };
  kind.balance = 1.001;
  testing::CheckAssigner(kind);
}

TEST_CASE("range shards are stretches of equal length, give or take a node", "[partition]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::TypedGraph(103, 40, 0, 1), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  const int32_t num_shards = GENERATE(1, 2, 7, 100);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment assignment,
                                RangeAssigner().Assign(*dataset, num_shards, NoProgress()));
  CHECK(assignment.num_shards == num_shards);
  for (const std::vector<int32_t>& shard_of : assignment.shard_of) {
    CHECK(std::is_sorted(shard_of.begin(), shard_of.end()));
    std::vector<int64_t> loads(num_shards);
    for (const int32_t shard : shard_of) ++loads.at(shard);
    const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
    CHECK(*most - *least <= 1);
  }
}

}  // namespace
}  // namespace vicinity

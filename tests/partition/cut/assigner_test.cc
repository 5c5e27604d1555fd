#include "partition/cut/assigner.h"

#include <catch2/catch.hpp>
#include <memory>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("a cut needs a whole dataset and between one and as many shards as nodes",
          "[partition]") {
  const testing::TempDir folder;
  const testing::MemoryGraph graph = testing::TypedGraph(5, 3, 2, 1);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 2, 1), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> whole,
                                Dataset::Open(folder.File("d")));
  for (const int32_t num_shards : {1, 9, 10})
    VICINITY_CHECK_OK(CheckAssignable(*whole, num_shards));
  for (const int32_t num_shards : {-1, 0, 11, 1 << 30}) {
    VICINITY_CHECK_CODE(CheckAssignable(*whole, num_shards), absl::StatusCode::kInvalidArgument);
  }
  Dataset::Options options;
  options.shards = {ShardId{1}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> part,
                                Dataset::Open(folder.File("d"), options));
  VICINITY_CHECK_CODE(CheckAssignable(*part, 2), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("an assignment begins with every node of every type in shard 0", "[partition]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::TypedGraph(5, 3, 0, 1), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  const Assignment assignment = MakeAssignment(*dataset, 4);
  CHECK(assignment.num_shards == 4);
  REQUIRE(assignment.shard_of.size() == 3);
  CHECK(assignment.shard_of[0] == std::vector<int32_t>(5, 0));
  CHECK(assignment.shard_of[2].empty());
}

}  // namespace
}  // namespace vicinity

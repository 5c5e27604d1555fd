#include "server/health/shard_health.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/verified_file.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

std::unique_ptr<Dataset> OpenTwoOfThree(const std::string& directory, int64_t check_bytes) {
  const testing::MemoryGraph graph = testing::RandomGraph({});
  VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 3, 1), directory));
  Dataset::Options options;
  options.shards = {ShardId{0}, ShardId{2}};
  options.check_bytes = check_bytes;
  auto dataset = Dataset::Open(directory, options);
  VICINITY_REQUIRE_OK(dataset);
  return *std::move(dataset);
}

TEST_CASE("what was checked at open counts as checked", "[shard_health]") {
  const testing::TempDir folder;
  const auto dataset = OpenTwoOfThree(folder.File("g"), int64_t{1} << 30);
  const std::vector<ShardHealth::State> states = ShardHealth(*dataset).states();
  REQUIRE(states.size() == 2);
  CHECK(states[0].shard == ShardId{0});
  CHECK(states[1].shard == ShardId{2});
  for (const ShardHealth::State& state : states) {
    CHECK(state.file_bytes > 0);
    CHECK(state.checked_bytes == state.file_bytes);
    CHECK(state.fault.empty());
  }
}

TEST_CASE("what readers have verified counts", "[shard_health]") {
  const testing::TempDir folder;
  const auto dataset = OpenTwoOfThree(folder.File("g"), 0);
  const ShardHealth health(*dataset);
  CHECK(health.states()[1].checked_bytes == 0);
  const Shard& shard = *dataset->shard(ShardId{2});
  VICINITY_REQUIRE_OK(shard.files()[0]->Touch(shard.files()[0]->rows().data(), 1));
  CHECK(health.states()[1].checked_bytes > 0);
  CHECK(health.states()[0].checked_bytes == 0);
}

TEST_CASE("a shard keeps its first fault and the others stay sound", "[shard_health]") {
  const testing::TempDir folder;
  const auto dataset = OpenTwoOfThree(folder.File("g"), int64_t{1} << 30);
  const ShardHealth health(*dataset);
  VICINITY_CHECK_OK(health.Check(ShardId{2}));
  VerifiedFile* const file = dataset->shard(ShardId{2})->files()[0].get();
  file->Condemn("torn").IgnoreError();
  file->Condemn("torn again").IgnoreError();
  const absl::Status status = health.Check(ShardId{2});
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK(status.message() == file->path() + ": torn");
  CHECK(health.states()[1].fault == status.message());
  VICINITY_CHECK_OK(health.Check(ShardId{0}));
  VICINITY_CHECK_OK(health.Check(ShardId{1}));
}

TEST_CASE("how far the check is can be asked", "[shard_health]") {
  const testing::TempDir folder;
  const auto dataset = OpenTwoOfThree(folder.File("g"), 0);
  ShardHealth health(*dataset);
  health.SetScrubbed({2, 0, 100});
  health.SetScrubDone(30);
  CHECK(health.scrubbed().passes == 2);
  CHECK(health.scrubbed().done_bytes == 30);
  CHECK(health.scrubbed().all_bytes == 100);
}

}  // namespace
}  // namespace vicinity

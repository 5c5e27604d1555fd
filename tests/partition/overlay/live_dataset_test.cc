#include "partition/overlay/live_dataset.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_shard.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

struct LiveFolder {
  LiveFolder() {
    const testing::MemoryGraph graph = testing::TypedGraph(30, 20, 10, 1);
    VICINITY_REQUIRE_OK(
        testing::WriteGraph(graph, testing::Shuffled(graph, 3, 1), folder.File("graph")));
    Dataset::Options options;
    options.grows = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset, Dataset::Open(folder.File("graph"), options));
  }
  absl::StatusOr<std::unique_ptr<LiveDataset>> Open() const {
    return LiveDataset::Open(*dataset, folder.File("changes"), {});
  }

  testing::TempDir folder;
  std::unique_ptr<Dataset> dataset;
};

TEST_CASE("each shard's changes have a folder of their own, and are there again",
          "[live_dataset]") {
  const LiveFolder test;
  for (uint64_t version = 1; version <= 2; ++version) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto live, test.Open());
    CHECK(std::filesystem::is_directory(test.folder.File("changes/shard-00002/db")));
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<LiveShard> shard, live->Find({2}));
    CHECK(shard->version() == version - 1);
    CHECK((*live->Find({1}))->version() == 0);
    CHECK(live->Find({3}).status().code() == absl::StatusCode::kFailedPrecondition);
    proto::WriteSession session;
    session.set_id("w");
    session.set_sequence(version);
    proto::WriteBatch batch;
    proto::NewEdges& edges = *batch.add_new_edges();
    edges.set_edge_type(3);
    edges.add_sources(static_cast<uint64_t>(test.dataset->book().First({0}, {2}).value));
    edges.add_targets(edges.sources(0));
    VICINITY_REQUIRE_OK(
        shard->Apply(session, batch, Durability::kSync, absl::Now() + absl::Minutes(1)).status());
    CHECK(test.Open().status().code() == absl::StatusCode::kFailedPrecondition);  // it is held
  }
}

TEST_CASE("a reserve is kept beside the changes while somebody wants one", "[live_dataset]") {
  const LiveFolder test;
  const std::string path = test.folder.File("changes/reserve-00000");
  LiveDatasetOptions options;
  options.reserve_bytes = 1 << 20;
  for (int life = 0; life < 2; ++life) {
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const auto live, LiveDataset::Open(*test.dataset, test.folder.File("changes"), options));
    CHECK(live->reserve()->is_held());
    CHECK(live->reserve()->path() == path);
    CHECK(std::filesystem::file_size(path) == 1 << 20);
  }
  // It is taken at start only where twice as much is free.
  options.reserve_bytes = int64_t{1} << 60;
  std::filesystem::remove(path);
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const auto live, LiveDataset::Open(*test.dataset, test.folder.File("changes"), options));
    CHECK_FALSE(live->reserve()->is_held());
    CHECK_FALSE(std::filesystem::exists(path));
  }
  options.reserve_bytes = 1 << 20;
  VICINITY_REQUIRE_OK(
      LiveDataset::Open(*test.dataset, test.folder.File("changes"), options).status());
  CHECK(std::filesystem::exists(path));
  VICINITY_REQUIRE_OK(test.Open().status());
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a shard whose changes are damaged is left out, while there is another",
          "[live_dataset]") {
  const LiveFolder test;
  VICINITY_REQUIRE_OK(test.Open().status());
  for (const char* const shard : {"0", "1", "2"}) {
    const std::string db = test.folder.File(std::string("changes/shard-0000") + shard + "/db");
    std::filesystem::remove_all(db);
    const auto live = test.Open();
    if (*shard == '2') {
      CHECK(live.status().code() == absl::StatusCode::kDataLoss);
      break;
    }
    VICINITY_REQUIRE_OK(live.status());
    const absl::Status lost = (*live)->Find({*shard - '0'}).status();
    CHECK(lost.code() == absl::StatusCode::kDataLoss);
    CHECK_THAT(std::string(lost.message()), Catch::Contains(std::string("shard-0000") + shard));
    VICINITY_CHECK_OK((*live)->Find({2}).status());
  }
}

}  // namespace
}  // namespace vicinity

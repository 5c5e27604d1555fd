#include "server/handlers/verify_handler.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "server/health/shard_health.h"
#include "server/logging/logging.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int64_t kFast = int64_t{1} << 40;

class VerifyTest {
 protected:
  VerifyTest() {
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 5), directory_));
    auto dataset = Dataset::Open(directory_);
    VICINITY_REQUIRE_OK(dataset);
    dataset_ = *std::move(dataset);
    health_ = std::make_unique<ShardHealth>(*dataset_);
  }
  absl::StatusOr<proto::VerifyReply> Verify(int64_t rate, bool gone) const {
    return VerifyFiles(dataset_.get(), rate, health_.get(), log_.get(), [gone] { return gone; });
  }

  const testing::TempDir folder_;
  const std::string directory_ = folder_.File("graph");
  const std::shared_ptr<spdlog::logger> log_ = MakeSilentLogger();
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<ShardHealth> health_;
};

TEST_CASE_METHOD(VerifyTest, "all files of the served shards are read, however often", "[verify]") {
  int64_t files = 0;
  uint64_t bytes = 0;
  for (const proto::ShardEntry& shard : dataset_->manifest().shards()) {
    for (const proto::FileEntry& file : shard.files()) {
      ++files;
      bytes += file.size();
    }
  }
  for (int i = 0; i < 2; ++i) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const proto::VerifyReply reply, Verify(kFast, false));
    CHECK(static_cast<int64_t>(reply.files()) == files);
    CHECK(reply.bytes() == bytes);
    CHECK(reply.faults().empty());
  }
}

TEST_CASE_METHOD(VerifyTest, "a file damaged while it is served is found", "[verify]") {
  const std::string path =
      absl::StrCat(directory_, "/", dataset_->manifest().shards(1).files(0).path());
  testing::FlipBit(path, 3);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::VerifyReply reply, Verify(kFast, false));
  REQUIRE(reply.faults_size() == 1);
  CHECK_THAT(reply.faults(0), Catch::Contains(path));
  VICINITY_CHECK_OK(health_->Check(ShardId{0}));
  VICINITY_CHECK_CODE(health_->Check(ShardId{1}), absl::StatusCode::kDataLoss);
}

TEST_CASE_METHOD(VerifyTest, "a caller that leaves ends it", "[verify]") {
  // At a byte a second it would take hours.
  VICINITY_CHECK_CODE(Verify(1, true), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace vicinity

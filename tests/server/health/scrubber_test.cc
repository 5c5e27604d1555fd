#include "server/health/scrubber.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "server/health/shard_health.h"
#include "server/logging/logging.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr std::chrono::seconds kLimit{30};
constexpr int64_t kFast = int64_t{1} << 40;

// A dataset of two shards whose files nobody has checked yet.
class ScrubberTest {
 public:
  ScrubberTest() : log_(MakeSilentLogger()) {
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 1), folder_.File("g")));
    Dataset::Options options;
    options.verify_at_touch = true;
    auto dataset = Dataset::Open(folder_.File("g"), options);
    VICINITY_REQUIRE_OK(dataset);
    dataset_ = *std::move(dataset);
    health_ = std::make_unique<ShardHealth>(*dataset_);
    REQUIRE_FALSE(dataset_->unchecked().empty());
  }

 protected:
  // The largest file of shard 1.
  std::string Victim() const {
    const proto::FileEntry* largest = nullptr;
    for (const proto::FileEntry& file : dataset_->manifest().shards(1).files()) {
      if (largest == nullptr || file.size() > largest->size()) largest = &file;
    }
    return largest->path();
  }
  std::string Path(const std::string& file) const {
    return absl::StrCat(folder_.File("g"), "/", file);
  }
  std::unique_ptr<Scrubber> Start(int64_t bytes_per_second) {
    return Scrubber::Start(dataset_.get(), Scrubber::Which::kForever, bytes_per_second,
                           health_.get(), log_.get());
  }

  const testing::TempDir folder_;
  const std::shared_ptr<spdlog::logger> log_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<ShardHealth> health_;
};

TEST_CASE_METHOD(ScrubberTest, "sound files end up checked, every byte", "[scrubber]") {
  const auto scrubber = Start(kFast);
  REQUIRE(scrubber->WaitUntilDone(kLimit));
  for (const ShardHealth::State& state : health_->states()) {
    CHECK(state.checked_bytes == state.file_bytes);
    CHECK(state.fault.empty());
  }
}

TEST_CASE_METHOD(ScrubberTest, "a flipped byte makes its shard faulty and no other", "[scrubber]") {
  const std::string victim = Victim();
  {
    std::fstream file(Path(victim), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1, std::ios::end);
    const char flipped = static_cast<char>(file.peek() ^ 1);
    file.seekp(-1, std::ios::end);
    file.put(flipped);
  }
  const auto scrubber = Start(kFast);
  REQUIRE(scrubber->WaitUntilDone(kLimit));
  VICINITY_CHECK_OK(health_->Check(ShardId{0}));
  const absl::Status status = health_->Check(ShardId{1});
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(status.message()), Catch::Contains(victim));
}

TEST_CASE_METHOD(ScrubberTest, "a file that has gone is served on, and somebody is told",
                 "[scrubber]") {
  const std::string victim = Victim();
  REQUIRE(std::remove(Path(victim).c_str()) == 0);
  const auto scrubber = Start(kFast);
  REQUIRE(scrubber->WaitUntilDone(kLimit));
  VICINITY_CHECK_OK(health_->Check(ShardId{1}));
  REQUIRE(scrubber->notes().size() == 1);
  CHECK_THAT(scrubber->notes()[0], Catch::Contains(victim));
}

TEST_CASE_METHOD(ScrubberTest, "it never ends, and tells how far it is", "[scrubber]") {
  const auto scrubber = Start(kFast);
  const auto limit = std::chrono::steady_clock::now() + kLimit;
  while (health_->scrubbed().passes < 3 && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
  CHECK(health_->scrubbed().passes >= 3);
  CHECK(health_->scrubbed().all_bytes == scrubber->num_bytes());
}

TEST_CASE_METHOD(ScrubberTest, "a mended file brings its shard back", "[scrubber]") {
  const std::string victim = Path(Victim());
  testing::FlipBit(victim, 100);
  const auto scrubber = Start(kFast);
  REQUIRE(scrubber->WaitUntilDone(kLimit));
  REQUIRE(absl::IsDataLoss(health_->Check(ShardId{1})));
  testing::FlipBit(victim, 100);
  const auto limit = std::chrono::steady_clock::now() + kLimit;
  while (!health_->Check(ShardId{1}).ok() && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
  VICINITY_CHECK_OK(health_->Check(ShardId{1}));
}

TEST_CASE_METHOD(ScrubberTest, "a slow check can be ended at any time", "[scrubber]") {
  auto scrubber = Start(1);  // hours
  CHECK_FALSE(scrubber->WaitUntilDone(std::chrono::nanoseconds(1)));
  scrubber.reset();  // a hang here is the test's failure
  VICINITY_CHECK_OK(health_->Check(ShardId{0}));
}

}  // namespace
}  // namespace vicinity

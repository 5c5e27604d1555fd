#include "server/start_record.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "server/logging/logging.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

class RecordTest {
 public:
  // Null: it is not started.
  std::unique_ptr<StartRecord> Start(bool force = false) {
    auto begun = StartRecord::Begin(path(), force, now_, log_.get());
    if (begun.ok()) return *std::move(begun);
    CHECK(begun.status().code() == absl::StatusCode::kFailedPrecondition);
    CHECK_THAT(std::string(begun.status().message()),
               Catch::Contains("--force") && Catch::Contains(path()));
    return nullptr;
  }
  void Die(size_t times) {
    for (size_t time = 0; time < times; ++time) {
      REQUIRE(Start() != nullptr);
      now_ += absl::Seconds(3);
    }
  }
  std::string path() const { return StartRecord::PathIn(folder_.File("changes"), ShardId{3}); }
  bool is_empty() const { return std::filesystem::file_size(path()) == 0; }
  std::string text() const { return *ReadFile(path()); }

  const testing::TempDir folder_;
  const std::shared_ptr<spdlog::logger> log_ = MakeSilentLogger();
  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
};

TEST_CASE_METHOD(RecordTest,
                 "after five starts that died there is none, until ten minutes are over",
                 "[start_record]") {
  const absl::Time first = now_;
  Die(StartRecord::kMost);
  for (int time = 0; time < 3; ++time) {
    CHECK(Start() == nullptr);
    now_ += absl::Minutes(3);
  }
  now_ = first + StartRecord::kWindow;
  CHECK(Start() == nullptr);
  // Then it is tried again once for each that is out of the window.
  now_ += absl::Seconds(1);
  CHECK(Start() != nullptr);
  CHECK(Start() == nullptr);
}

TEST_CASE_METHOD(RecordTest, "who looks after it may start it", "[start_record]") {
  Die(StartRecord::kMost);
  CHECK(Start() == nullptr);
  CHECK(Start(/*force=*/true) != nullptr);
  CHECK(Start() == nullptr);
}

TEST_CASE_METHOD(RecordTest, "a start that ends in order forgets itself, and all if it was ready",
                 "[start_record]") {
  Die(StartRecord::kMost - 1);
  for (int time = 0; time < 10; ++time) Start()->End();
  CHECK_FALSE(is_empty());
  auto ready = Start();
  ready->Ready();
  CHECK_FALSE(is_empty());
  ready->End();
  CHECK(is_empty());
  ready.reset();
  Die(StartRecord::kMost);
  CHECK(Start() == nullptr);
}

TEST_CASE_METHOD(RecordTest,
                 "a server that was ready for a while forgets, one that dies before does "
                 "not",
                 "[start_record]") {
  Die(StartRecord::kMost - 1);
  {
    const auto dies = Start();
    dies->Ready();
  }
  CHECK(Start() == nullptr);
  const auto settles = Start(/*force=*/true);
  settles->Ready(std::chrono::nanoseconds(1));
  const absl::Time end = absl::Now() + absl::Seconds(60);
  while (!is_empty() && absl::Now() < end) std::this_thread::yield();
  CHECK(is_empty());
}

TEST_CASE_METHOD(RecordTest,
                 "servers that are started beside one that serves do not keep it from being "
                 "started again",
                 "[start_record]") {
  auto serves = Start();
  const bool is_ready = GENERATE(false, true);
  if (is_ready) serves->Ready();
  const std::string counted = text();
  // Some die before anybody refuses them, others are refused, and end in order.
  for (size_t time = 0; time <= StartRecord::kMost; ++time) {
    const auto dies = Start(/*force=*/time % 2 == 0);
    REQUIRE(dies != nullptr);
    const auto refused = Start();
    REQUIRE(refused != nullptr);
    refused->End();
    CHECK(text() == counted);
  }
  // What its end says of it stands, too, whoever ends after it.
  const auto later = Start();
  serves->End();
  CHECK(is_empty());
  later->End();
  CHECK(is_empty());
  serves.reset();
  CHECK(Start() != nullptr);
  CHECK_FALSE(is_empty());
}

TEST_CASE_METHOD(RecordTest,
                 "a file that does not read, and a folder that is none, keep nobody from "
                 "starting",
                 "[start_record]") {
  std::filesystem::create_directories(folder_.File("changes"));
  std::ofstream(path()) << "x\n-\n\n99999999999999999999999\n";
  CHECK(Start() != nullptr);
  std::filesystem::remove(path());
  std::filesystem::create_directories(path());
  for (int time = 0; time < 7; ++time) CHECK(Start() != nullptr);
}

TEST_CASE_METHOD(RecordTest, "a clock that is set back or forth makes no start fail for ever",
                 "[start_record]") {
  Die(StartRecord::kMost);
  now_ -= absl::Hours(1);
  CHECK(Start() == nullptr);
  now_ += absl::Hours(2);
  CHECK(Start() != nullptr);
}

TEST_CASE_METHOD(RecordTest, "the file stays small", "[start_record]") {
  for (int time = 0; time < 100; ++time) {
    REQUIRE(Start(/*force=*/true) != nullptr);
    now_ += absl::Seconds(1);
  }
  CHECK(std::filesystem::file_size(path()) < 100);
}

}  // namespace
}  // namespace vicinity

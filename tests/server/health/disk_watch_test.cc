#include "server/health/disk_watch.h"

#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

#include "absl/status/statusor.h"
#include "partition/overlay/disk_reserve.h"
#include "proto/telemetry/registry.h"
#include "server/logging/logging.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int64_t kMib = int64_t{1} << 20;

class WatchTest {
 public:
  explicit WatchTest(int64_t reserve_bytes = kMib)
      : reserve_(folder_.File("reserve"), reserve_bytes) {
    if (reserve_bytes > 0) VICINITY_REQUIRE_OK(reserve_.Make());
  }

  DiskWatchOptions Limits(int64_t warn_mib, int64_t least_mib) {
    DiskWatchOptions options;
    options.folder = "changes";
    options.warn_bytes = warn_mib * kMib;
    options.least_bytes = least_mib * kMib;
    options.free = [this]() -> absl::StatusOr<int64_t> { return free_mib_ * kMib; };
    return options;
  }
  DiskLevel LevelAt(DiskWatch* watch, int64_t free_mib) {
    free_mib_ = free_mib;
    watch->Look();
    return watch->level();
  }
  int64_t num_lines() const {
    const std::string lines = text_.str();
    return std::count(lines.begin(), lines.end(), '\n');
  }

  testing::TempDir folder_;
  DiskReserve reserve_;
  int64_t free_mib_ = 100;
  std::ostringstream text_;
  const std::shared_ptr<spdlog::logger> log_ =
      MakeLogger(LogFormat::kText, spdlog::level::info,
                 std::make_shared<spdlog::sinks::ostream_sink_mt>(text_));
};

TEST_CASE_METHOD(WatchTest, "a disk that fills and empties is told of once at each level",
                 "[disk_watch]") {
  DiskWatch watch(Limits(40, 20), &reserve_, log_.get());
  CHECK(LevelAt(&watch, 100) == DiskLevel::kEnough);
  CHECK(LevelAt(&watch, 40) == DiskLevel::kEnough);
  CHECK(num_lines() == 0);
  CHECK(LevelAt(&watch, 39) == DiskLevel::kLow);
  CHECK_THAT(text_.str(), Catch::Contains("warn") && Catch::Contains("39.0 MiB"));
  CHECK(LevelAt(&watch, 20) == DiskLevel::kLow);
  CHECK(num_lines() == 1);
  CHECK(LevelAt(&watch, 19) == DiskLevel::kFull);
  CHECK(LevelAt(&watch, 0) == DiskLevel::kFull);
  CHECK(LevelAt(&watch, 24) == DiskLevel::kFull);
  CHECK(num_lines() == 2);
  CHECK(LevelAt(&watch, 25) == DiskLevel::kLow);
  CHECK(LevelAt(&watch, 49) == DiskLevel::kLow);
  CHECK(num_lines() == 3);
  CHECK(LevelAt(&watch, 50) == DiskLevel::kEnough);
  CHECK(num_lines() == 4);
}

TEST_CASE_METHOD(WatchTest, "a reserve that was given up is made again once all has room",
                 "[disk_watch]") {
  DiskWatch watch(Limits(40, 20), &reserve_, log_.get());
  reserve_.GiveUp();
  CHECK(LevelAt(&watch, 1) == DiskLevel::kFull);
  CHECK(num_lines() == 2);
  CHECK_THAT(text_.str(), Catch::Contains("refused until there are 26.0 MiB"));
  CHECK(LevelAt(&watch, 25) == DiskLevel::kFull);  // the reserve would leave less than 25
  CHECK_FALSE(reserve_.is_held());
  CHECK(LevelAt(&watch, 26) == DiskLevel::kLow);
  CHECK(reserve_.is_held());
  CHECK(num_lines() == 4);
}

TEST_CASE("without limits a disk is full once the reserve was needed", "[disk_watch]") {
  WatchTest test(2 * kMib);
  DiskWatch watch(test.Limits(0, 0), &test.reserve_, test.log_.get());
  CHECK(test.LevelAt(&watch, 0) == DiskLevel::kEnough);
  test.reserve_.GiveUp();
  CHECK(test.LevelAt(&watch, 3) == DiskLevel::kFull);
  CHECK_THAT(test.text_.str(), Catch::Contains("refused until there are 4.0 MiB"));
  CHECK(test.LevelAt(&watch, 4) == DiskLevel::kEnough);
  CHECK(test.reserve_.is_held());
}

TEST_CASE_METHOD(WatchTest, "the level and the reserve are metrics", "[disk_watch]") {
  DiskWatch watch(Limits(40, 20), &reserve_, log_.get());
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  watch.AddMetrics(&group);
  const auto value = [&](const std::string& name) {
    for (const auto& reading : registry.Read()) {
      if (reading.metric.name == name) return reading.value;
    }
    return -1.0;
  };
  LevelAt(&watch, 30);
  CHECK(value("vicinity_server_changes_disk_level") == 1);
  CHECK(value("vicinity_server_changes_reserve_bytes") == kMib);
  reserve_.GiveUp();
  LevelAt(&watch, 0);
  CHECK(value("vicinity_server_changes_disk_level") == 2);
  CHECK(value("vicinity_server_changes_reserve_bytes") == 0);
}

TEST_CASE_METHOD(WatchTest, "it looks by itself, and a disk that does not say is told of",
                 "[disk_watch]") {
  DiskWatchOptions options = Limits(40, 20);
  options.free = [] { return absl::UnavailableError("gone"); };
  DiskWatch::Start(options, &reserve_, log_.get()).reset();
  CHECK_THAT(text_.str(), Catch::Contains("gone"));
}

}  // namespace
}  // namespace vicinity

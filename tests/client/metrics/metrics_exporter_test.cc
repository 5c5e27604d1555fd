#include "client/metrics/metrics_exporter.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/metrics/loader_names.h"
#include "client/types/metrics_options.h"
#include "proto/common/file.h"
#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr absl::Duration kLimit = absl::Seconds(30);

class ExporterTest {
 protected:
  ExporterTest() {
    options_.file = folder_.File("trainer.prom");
    options_.interval = std::chrono::milliseconds(5);
    group_.Add({"rows_total", "Rows"}, {}, &rows_);
  }
  std::unique_ptr<MetricsExporter> Start() {
    auto exporter = MetricsExporter::Start(options_, registry_);
    VICINITY_REQUIRE_OK(exporter);
    REQUIRE(*exporter != nullptr);
    return *std::move(exporter);
  }
  std::string File() const { return ReadFile(options_.file).value_or("?"); }
  bool WaitForFile(const std::string& text) const {
    for (const absl::Time end = absl::Now() + kLimit; absl::Now() < end;) {
      if (absl::StrContains(File(), text)) return true;
      absl::SleepFor(absl::Milliseconds(1));
    }
    return false;
  }

  const testing::TempDir folder_;
  MetricsOptions options_;
  MetricRegistry registry_;
  Counter rows_;
  MetricRegistry::Group group_{&registry_};
};

TEST_CASE_METHOD(ExporterTest, "nothing is shown unless it is asked for", "[metrics]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto none, MetricsExporter::Start({}, registry_));
  CHECK(none == nullptr);
}

TEST_CASE_METHOD(ExporterTest, "the file is there at once, and follows what is counted",
                 "[metrics]") {
  options_.trainer = "3";
  const auto exporter = Start();
  CHECK_THAT(File(), Catch::Contains("rows_total{trainer=\"3\"} 0\n"));
  rows_.Add(7);
  CHECK(WaitForFile("rows_total{trainer=\"3\"} 7\n"));
  CHECK(exporter->address().empty());
}

TEST_CASE_METHOD(ExporterTest, "a reader sees whole files alone", "[metrics]") {
  for (int i = 0; i < 200; ++i) {
    group_.Add({"many", "Series", MetricKind::kGauge}, {{"i", std::to_string(i)}},
               [] { return 1.0; });
  }
  options_.interval = std::chrono::milliseconds(1);
  const auto exporter = Start();
  for (int i = 0; i < 500; ++i) {
    const std::string text = File();
    REQUIRE(absl::StrContains(text, "many{i=\"199\"} 1\n"));
    REQUIRE(absl::EndsWith(text, "rows_total 0\n"));
  }
  // Nor does it find others beside it whose names end with .prom.
  int num_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    if (entry.path().extension() == ".prom") ++num_files;
  }
  CHECK(num_files == 1);
}

TEST_CASE_METHOD(ExporterTest, "the file stays as the last loader left it", "[metrics]") {
  {
    const auto exporter = Start();
    {
      MetricRegistry::Group loader(&registry_);
      Counter batches;
      batches.Add(5);
      loader.Add({"batches_total", "Batches"}, {{"loader", "0"}}, &batches);
      exporter->LoaderBegins();
      CHECK(WaitForFile("batches_total{loader=\"0\"} 5\n"));
      batches.Add(1);
      exporter->LoaderEnds();
    }
    CHECK_THAT(File(), Catch::Contains("batches_total{loader=\"0\"} 6\n"));
    absl::SleepFor(absl::Milliseconds(50));  // ten intervals
    CHECK_THAT(File(), Catch::Contains("batches_total{loader=\"0\"} 6\n"));
    exporter->LoaderBegins();
    rows_.Add(9);
    CHECK(WaitForFile("rows_total 9\n"));
    CHECK_FALSE(absl::StrContains(File(), "batches_total"));
    exporter->LoaderEnds();
  }
  CHECK_THAT(File(), Catch::Contains("rows_total 9\n"));
}

TEST_CASE_METHOD(ExporterTest, "options that cannot be are refused by name", "[metrics]") {
  const auto refused = [this](const MetricsOptions& options) {
    const absl::Status status = MetricsExporter::Start(options, registry_).status();
    CHECK_FALSE(status.ok());
    return std::string(status.message());
  };
  MetricsOptions options;
  options.file = folder_.File("none/trainer.prom");
  CHECK_THAT(refused(options), Catch::Contains("metrics.file"));
  options = {};
  options.listen = "9600";
  CHECK_THAT(refused(options), Catch::Contains("metrics.listen"));
  options.listen = "0.0.0.0:0";
  CHECK_THAT(refused(options), Catch::Contains("metrics.open"));
  options.listen = "127.0.0.1:0";
  options.interval = std::chrono::milliseconds(0);
  CHECK_THAT(refused(options), Catch::Contains("metrics.interval"));
  options.interval = std::chrono::milliseconds(1);
  options.trainer = std::string(65, 'x');
  CHECK_THAT(refused(options), Catch::Contains("metrics.trainer"));
}

TEST_CASE_METHOD(ExporterTest, "beyond loopback it listens where it is told to be open",
                 "[metrics]") {
  MetricsOptions options;
  options.listen = "0.0.0.0:0";
  options.open = true;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto exporter, MetricsExporter::Start(options, registry_));
  CHECK_THAT(exporter->address(), Catch::StartsWith("0.0.0.0:"));
}

TEST_CASE("loaders that are gone leave their names to others", "[metrics]") {
  LoaderNames names;
  CHECK(names.Take() == "0");
  CHECK(names.Take() == "1");
  CHECK(names.Take() == "2");
  names.GiveBack("1");
  CHECK(names.Take() == "1");
  CHECK(names.Take() == "3");
}

}  // namespace
}  // namespace vicinity

#include "client/why/metric_samples.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "proto/telemetry/latency_histogram.h"
#include "proto/telemetry/metric.h"
#include "proto/telemetry/metrics_text.h"
#include "proto/telemetry/registry.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("what the registry writes is read again", "[why]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  Counter rows;
  rows.Add(int64_t{1} << 52);
  group.Add({"rows_total", "Rows"}, {{"name", "a\"b\\c\nd,e}"}, {"tier", "x"}}, &rows);
  LatencyHistogram time;
  time.Add(std::chrono::milliseconds(250));
  group.Add({"call_seconds", "Time"}, {{"method", "Get"}}, &time);
  VICINITY_ASSERT_OK_AND_ASSIGN(const MetricSamples samples,
                                ParseMetrics(MetricsText(registry, {{"trainer", "3"}})));
  CHECK(SumOf(samples, "rows_total") == std::ldexp(1.0, 52));
  CHECK(SumOf(samples, "rows_total", {{"name", "a\"b\\c\nd,e}"}}) == std::ldexp(1.0, 52));
  CHECK(SumOf(samples, "rows_total", {{"tier", "y"}}) == 0);
  CHECK(SumOf(samples, "call_seconds_sum", {{"trainer", "3"}}) == 0.25);
  CHECK(SumOf(samples, "call_seconds_bucket", {{"le", "+Inf"}}) == 1);
  CHECK(samples.front().Label("none").empty());
}

TEST_CASE("other writers' text is read", "[why]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const MetricSamples samples,
      ParseMetrics("# a comment\r\n\n  a 1\nb{} +Inf\nc{x=\"1\",} 2.5e3 1700000000000\n"
                   "d{x=\"1\", y=\"2\"} NaN\n"));
  CHECK(samples.size() == 4);
  CHECK(samples[0].value == 1);
  CHECK(std::isinf(samples[1].value));
  CHECK(samples[2].value == 2500);
  CHECK(std::isnan(samples[3].value));
  CHECK(samples[3].Label("y") == "2");
}

TEST_CASE("a line that is no metric is quoted", "[why]") {
  const std::string wrong =
      GENERATE(std::string("{x=\"1\"} 2"), std::string("a{x=1} 2"), std::string("a{x=\"1} 2"),
               std::string("a{x=\"1\" 2"), std::string("a"), std::string("a b"),
               std::string("a 1 2 3"), std::string("<html>"), std::string("a{x=\"\\"));
  INFO(wrong);
  const absl::Status status = ParseMetrics("fine 1\n" + wrong + "\n").status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::Contains("line 2") && Catch::Contains(wrong));
}

}  // namespace
}  // namespace vicinity

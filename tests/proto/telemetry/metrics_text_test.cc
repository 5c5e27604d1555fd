#include "proto/telemetry/metrics_text.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <string>

#include "proto/telemetry/latency_histogram.h"
#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"

namespace vicinity {
namespace {

TEST_CASE("counters and gauges are shown by family, with help, type and labels", "[telemetry]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  Counter rows;
  rows.Add(7);
  group.Add({"rows_total", "Rows sent"}, {{"shard", "1"}}, &rows);
  group.Add({"calls", "Calls under way", MetricKind::kGauge}, {}, [] { return 2.5; });
  group.Add({"rows_total", "Rows sent"}, {{"shard", "0"}}, [] { return 3.0; });
  CHECK(MetricsText(registry) ==
        "# HELP calls Calls under way\n"
        "# TYPE calls gauge\n"
        "calls 2.5\n"
        "# HELP rows_total Rows sent\n"
        "# TYPE rows_total counter\n"
        "rows_total{shard=\"0\"} 3\n"
        "rows_total{shard=\"1\"} 7\n");
}

TEST_CASE("labels of any text are escaped", "[telemetry]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  group.Add({"named", "A name", MetricKind::kGauge}, {{"name", "a\"b\\c\nd"}}, [] { return 1.0; });
  CHECK_THAT(MetricsText(registry), Catch::Contains(R"(named{name="a\"b\\c\nd"} 1)"));
}

TEST_CASE("labels that all series have come first", "[telemetry]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  LatencyHistogram time;
  group.Add({"calls", "Calls under way", MetricKind::kGauge}, {}, [] { return 2.0; });
  group.Add({"call_seconds", "Time"}, {{"method", "Get"}}, &time);
  const std::string text = MetricsText(registry, {{"trainer", "3"}});
  CHECK_THAT(text, Catch::Contains("calls{trainer=\"3\"} 2\n"));
  CHECK_THAT(text, Catch::Contains("call_seconds_count{trainer=\"3\",method=\"Get\"} 0\n"));
}

TEST_CASE("large counts lose no digit", "[telemetry]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  Counter bytes;
  bytes.Add(int64_t{1} << 52);
  group.Add({"bytes_total", "Bytes"}, {}, &bytes);
  CHECK_THAT(MetricsText(registry), Catch::Contains("bytes_total 4503599627370496\n"));
}

TEST_CASE("a histogram is one family, its buckets rise, and the last is all", "[telemetry]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  LatencyHistogram time;
  time.Add(std::chrono::microseconds(60));
  time.Add(std::chrono::seconds(100));
  group.Add({"call_seconds", "Time"}, {{"method", "Get"}}, &time);
  const std::string text = MetricsText(registry);
  CHECK_THAT(text, Catch::StartsWith("# HELP call_seconds Time\n# TYPE call_seconds histogram\n"));
  CHECK_THAT(text, Catch::Contains("call_seconds_bucket{method=\"Get\",le=\"5e-05\"} 0\n") ||
                       Catch::Contains("call_seconds_bucket{method=\"Get\",le=\"0.00005\"} 0\n"));
  CHECK_THAT(text, Catch::Contains("call_seconds_bucket{method=\"Get\",le=\"10\"} 1\n"));
  CHECK_THAT(text, Catch::Contains("call_seconds_bucket{method=\"Get\",le=\"+Inf\"} 2\n"));
  CHECK_THAT(text, Catch::Contains("call_seconds_count{method=\"Get\"} 2\n"));
  CHECK_THAT(text, Catch::Contains("call_seconds_sum{method=\"Get\"} 100.00006\n"));
}

}  // namespace
}  // namespace vicinity

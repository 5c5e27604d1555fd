#include "proto/telemetry/latency_histogram.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"

namespace vicinity {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST_CASE("a time is counted up to its bound and in all above", "[telemetry]") {
  LatencyHistogram histogram;
  histogram.Add(milliseconds(1));  // a bound belongs to its bucket
  histogram.Add(microseconds(1001));
  histogram.Add(std::chrono::seconds(100));  // beyond all bounds
  histogram.Add(std::chrono::nanoseconds(0));
  CHECK(histogram.count() == 4);
  CHECK(histogram.seconds() == Approx(100.002001));
  for (size_t b = 0; b < std::size(LatencyHistogram::kBounds); ++b) {
    const double bound = LatencyHistogram::kBounds[b];
    INFO("bound " << bound);
    CHECK(histogram.count_within(b) == 1 + (bound >= 0.001) + (bound >= 0.001001));
  }
}

TEST_CASE("the bounds rise", "[telemetry]") {
  for (size_t b = 1; b < std::size(LatencyHistogram::kBounds); ++b) {
    CHECK(LatencyHistogram::kBounds[b - 1] < LatencyHistogram::kBounds[b]);
  }
}

TEST_CASE("no time is lost when threads add", "[telemetry]") {
  LatencyHistogram histogram;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&histogram] {
      for (int i = 0; i < 1000; ++i) histogram.Add(microseconds(i * 100));
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(histogram.count() == 4000);
  CHECK(histogram.seconds() == Approx(4 * 0.1e-3 * 999 * 500));
}

TEST_CASE("a histogram is shown as Prometheus wants it", "[telemetry]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  LatencyHistogram histogram;
  group.Add({"call_seconds", "Time"}, {{"method", "Get"}}, &histogram);
  histogram.Add(milliseconds(3));
  histogram.Add(milliseconds(70));
  std::map<std::string, double> buckets;
  for (const MetricRegistry::Reading& reading : registry.Read()) {
    CHECK(reading.labels.front() == std::pair<std::string, std::string>("method", "Get"));
    CHECK(reading.metric.kind == MetricKind::kCounter);
    if (reading.metric.name == "call_seconds_bucket") {
      REQUIRE(reading.labels.size() == 2);
      CHECK(reading.labels[1].first == "le");
      buckets[reading.labels[1].second] = reading.value;
    } else if (reading.metric.name == "call_seconds_sum") {
      CHECK(reading.value == Approx(0.073));
    } else {
      CHECK(reading.metric.name == "call_seconds_count");
      CHECK(reading.value == 2);
    }
  }
  CHECK(buckets.size() == std::size(LatencyHistogram::kBounds) + 1);
  CHECK(buckets.at("0.0025") == 0);
  CHECK(buckets.at("0.005") == 1);
  CHECK(buckets.at("0.1") == 2);
  CHECK(buckets.at("+Inf") == 2);
}

}  // namespace
}  // namespace vicinity

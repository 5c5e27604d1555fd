#include "proto/telemetry/registry.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "proto/telemetry/counter_table.h"
#include "proto/telemetry/metric.h"

namespace vicinity {
namespace {

TEST_CASE("what parts count is read by name, sorted", "[telemetry]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  Counter rows;
  Counter nanoseconds;
  Gauge open;
  group.Add({"z_rows_total", "Rows"}, {{"shard", "1"}}, &rows);
  group.Add({"z_rows_total", "Rows"}, {{"shard", "0"}}, &rows);
  group.Add({"a_seconds_total", "Time"}, {}, &nanoseconds, 1e-9);
  group.Add({"m_open", "Open", MetricKind::kGauge}, {},
            [&open] { return static_cast<double>(open.value()); });
  rows.Add(3);
  nanoseconds.Add(2'500'000'000);
  open.Add(5);
  open.Add(-1);
  const std::vector<MetricRegistry::Reading> readings = registry.Read();
  REQUIRE(readings.size() == 4);
  CHECK(readings[0].metric.name == "a_seconds_total");
  CHECK(readings[0].value == Approx(2.5));
  CHECK(readings[1].metric.kind == MetricKind::kGauge);
  CHECK(readings[1].value == 4);
  CHECK(readings[2].labels == MetricLabels{{"shard", "0"}});
  CHECK(readings[3].labels == MetricLabels{{"shard", "1"}});
  CHECK(readings[3].value == 3);
}

TEST_CASE("metrics of a part that is gone are gone, others stay", "[telemetry]") {
  MetricRegistry registry;
  MetricRegistry::Group stays(&registry);
  Counter counter;
  stays.Add({"stays_total", ""}, {}, &counter);
  auto goes = std::make_unique<MetricRegistry::Group>(&registry);
  goes->Add({"goes_total", ""}, {}, &counter);
  CHECK(registry.Read().size() == 2);
  goes.reset();
  REQUIRE(registry.Read().size() == 1);
  CHECK(registry.Read()[0].metric.name == "stays_total");
}

TEST_CASE("parts come, count and go while others read", "[telemetry]") {
  MetricRegistry registry;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&registry] {
      for (int i = 0; i < 200; ++i) {
        Counter counter;
        MetricRegistry::Group group(&registry);
        group.Add({"count_total", ""}, {}, &counter);
        counter.Add(2);
        for (const MetricRegistry::Reading& reading : registry.Read()) {
          if (reading.value != 0 && reading.value != 2) std::abort();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(registry.Read().empty());
}

struct Counts {
  int64_t calls = 0;
  int64_t bytes = 0;
};
struct Counters {
  Counter calls;
  Counter bytes;
};
constexpr CounterRow<Counts, Counters> kRows[] = {
    {"calls_total", "Calls", &Counts::calls, &Counters::calls},
    {"bytes_total", "Bytes", &Counts::bytes, &Counters::bytes},
};

TEST_CASE("one table reads counters and registers them", "[telemetry]") {
  Counters counters;
  counters.calls.Add();
  counters.bytes.Add(512);
  const Counts counts = ReadCounters(kRows, counters);
  CHECK(counts.calls == 1);
  CHECK(counts.bytes == 512);
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  RegisterCounters(kRows, counters, {{"graph", "a"}}, &group);
  const std::vector<MetricRegistry::Reading> readings = registry.Read();
  REQUIRE(readings.size() == 2);
  CHECK(readings[0].metric.name == "bytes_total");
  CHECK(readings[0].value == 512);
  CHECK(readings[0].labels == MetricLabels{{"graph", "a"}});
}

}  // namespace
}  // namespace vicinity

#include "client/metrics/process_use.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "proto/telemetry/registry.h"

namespace vicinity {
namespace {

TEST_CASE("a process tells its time, its cores and its memory", "[metrics]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  AddProcessUse(&group);
  const auto read = [&registry] {
    std::map<std::string, double> values;
    for (const MetricRegistry::Reading& reading : registry.Read()) {
      values[reading.metric.name] = reading.value;
    }
    return values;
  };
  const auto before = read();
  CHECK(before.at("vicinity_client_cores") >= 1);
  CHECK(before.at("vicinity_client_resident_bytes") > 1e5);
  double more = 0;
  for (int i = 0; i < 200'000'000 && more <= 0; ++i) {
    if (i % 1'000'000 == 0) {
      more = read().at("vicinity_client_cpu_seconds_total") -
             before.at("vicinity_client_cpu_seconds_total");
    }
  }
  CHECK(more > 0);
}

}  // namespace
}  // namespace vicinity

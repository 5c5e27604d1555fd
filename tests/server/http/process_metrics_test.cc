#include "server/http/process_metrics.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <string>

#include "proto/telemetry/registry.h"
#include "proto/version.h"

namespace vicinity {
namespace {

std::map<std::string, double> Read(const MetricRegistry& registry) {
  std::map<std::string, double> values;
  for (const auto& reading : registry.Read()) values[reading.metric.name] = reading.value;
  return values;
}

TEST_CASE("the process tells its time, memory and files", "[http]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  AddProcessMetrics(&group);
  const auto before = Read(registry);
  const int fd = eventfd(0, EFD_CLOEXEC);
  const auto after = Read(registry);
  close(fd);
  CHECK(after.at("process_open_fds") == before.at("process_open_fds") + 1);
  CHECK(after.at("process_max_fds") > after.at("process_open_fds"));
  CHECK(after.at("process_threads") >= 1);
  CHECK(after.at("process_resident_memory_bytes") > 1 << 20);
  CHECK(after.at("process_virtual_memory_bytes") >= after.at("process_resident_memory_bytes"));
  CHECK(after.at("process_cpu_seconds_total") >= before.at("process_cpu_seconds_total"));
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  CHECK(after.at("process_start_time_seconds") == Approx(now).margin(3600));
}

TEST_CASE("resident memory is told by what it is of", "[http]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  AddProcessMetrics(&group);
  std::map<std::string, double> tiers;
  double resident = 0;
  for (const auto& reading : registry.Read()) {
    if (reading.metric.name == "process_resident_memory_bytes") resident = reading.value;
    if (reading.metric.name != "vicinity_server_resident_bytes") continue;
    tiers[reading.labels.front().second] = reading.value;
  }
  REQUIRE(tiers.size() == 3);
  CHECK(tiers.at("files") > 0);
  CHECK(tiers.at("heap") > 0);
  // The kernel counts both a little late, each in its own way.
  const double sum = tiers.at("files") + tiers.at("heap") + tiers.at("shared");
  CHECK(sum == Approx(resident).margin(4 << 20));
}

TEST_CASE("the build is known by its version", "[http]") {
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  AddProcessMetrics(&group);
  bool found = false;
  for (const auto& reading : registry.Read()) {
    if (reading.metric.name != "vicinity_build_info") continue;
    found = true;
    CHECK(reading.value == 1);
    CHECK(reading.labels.front().second == kVersion);
  }
  CHECK(found);
}

}  // namespace
}  // namespace vicinity

#include "client/metrics/process_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "proto/common/machine.h"
#include "proto/telemetry/metric.h"

namespace vicinity {
namespace {

double CpuSeconds() {
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) != 0) return 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  double all = 0;
  double resident = 0;
  statm >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void AddProcessUse(MetricRegistry::Group* group) {
  group->Add({"vicinity_client_cpu_seconds_total", "User and system time of the trainer's process"},
             {}, &CpuSeconds);
  group->Add(
      {"vicinity_client_cores", "Cores that the trainer's process may use", MetricKind::kGauge}, {},
      [] { return static_cast<double>(NumCores()); });
  group->Add({"vicinity_client_resident_bytes", "Resident memory of the trainer's process",
              MetricKind::kGauge},
             {}, &ResidentBytes);
}

}  // namespace vicinity

#include "server/http/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "proto/common/machine.h"
#include "proto/telemetry/metric.h"
#include "proto/version.h"
#include "server/http/thread_waits.h"

namespace vicinity {
namespace {

// Fields of /proc/self/stat, counted as proc(5) does.
constexpr int kMajorFaults = 12;
constexpr int kThreads = 20;
constexpr int kStartTicks = 22;

double StatField(int wanted) {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // The second field is a name in brackets, which may have any characters.
  const size_t end = text.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream fields(text.substr(end + 1));
  std::string field;
  for (int i = 3; i <= wanted; ++i) fields >> field;
  return fields ? std::strtod(field.c_str(), nullptr) : 0;
}

double PagesOf(bool resident) {
  std::ifstream statm("/proc/self/statm");
  double all = 0;
  double there = 0;
  statm >> all >> there;
  return (resident ? there : all) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// A line of /proc/self/status, which are in KiB.
double StatusBytes(const char* key) {
  std::ifstream file("/proc/self/status");
  std::string word;
  double kib = 0;
  while (file >> word) {
    if (word == key && file >> kib) return kib * 1024;
  }
  return 0;
}

// A line of /proc/self/io.
double IoBytes(const char* key) {
  std::ifstream file("/proc/self/io");
  std::string word;
  double bytes = 0;
  while (file >> word) {
    if (word == key && file >> bytes) return bytes;
  }
  return 0;
}

double CpuSeconds() {
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) != 0) return 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double OpenFiles() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), &closedir);
  if (folder == nullptr) return 0;
  int entries = 0;
  while (readdir(folder.get()) != nullptr) ++entries;
  return entries < 3 ? 0 : entries - 3;  // ".", ".." and the folder's own
}

double MostFiles() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}

double BootTime() {
  std::ifstream file("/proc/stat");
  std::string word;
  double seconds = 0;
  while (file >> word) {
    if (word == "btime" && file >> seconds) return seconds;
  }
  return 0;
}

// What a server may be short of, for whoever asks why its trainers wait.
void AddShortages(MetricRegistry::Group* group) {
  const auto waits = std::make_shared<ThreadWaits>();
  group->Add({"vicinity_server_cores", "Cores that the process may use", MetricKind::kGauge}, {},
             [] { return static_cast<double>(NumCores()); });
  group->Add({"vicinity_server_cpu_wait_seconds_total",
              "Time that threads were ready to run and had no core"},
             {}, [waits] { return waits->CpuSeconds(); });
  group->Add(
      {"vicinity_server_threads_on_disk", "Threads that wait for a disk now", MetricKind::kGauge},
      {}, [waits] { return static_cast<double>(waits->OnDisk()); });
  group->Add({"vicinity_server_disk_read_bytes_total",
              "Bytes read from disks, pages of mapped files among them"},
             {}, [] { return IoBytes("read_bytes:"); });
  group->Add({"vicinity_server_major_faults_total",
              "Times that a thread waited for a page of a mapped file"},
             {}, [] { return StatField(kMajorFaults); });
}

}  // namespace

void AddProcessMetrics(MetricRegistry::Group* group) {
  const auto gauge = [group](const char* name, const char* help, auto read) {
    group->Add({name, help, MetricKind::kGauge}, {}, read);
  };
  group->Add({"process_cpu_seconds_total", "User and system time of the process in seconds"}, {},
             &CpuSeconds);
  gauge("process_resident_memory_bytes", "Resident memory, mapped files included",
        [] { return PagesOf(true); });
  gauge("process_virtual_memory_bytes", "Address space, mapped files included",
        [] { return PagesOf(false); });
  for (const auto& [tier, key] : {std::pair("files", "RssFile:"), std::pair("heap", "RssAnon:"),
                                  std::pair("shared", "RssShmem:")}) {
    group->Add({"vicinity_server_resident_bytes",
                "Memory that is resident: of mapped files, of the process itself, shared",
                MetricKind::kGauge},
               {{"tier", tier}}, [key = key] { return StatusBytes(key); });
  }
  gauge("process_open_fds", "Open files and sockets", &OpenFiles);
  gauge("process_max_fds", "Open files and sockets that the process may have", &MostFiles);
  gauge("process_threads", "Threads", [] { return StatField(kThreads); });
  const double started =
      BootTime() + StatField(kStartTicks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  gauge("process_start_time_seconds", "When the process began, in Unix seconds",
        [started] { return started; });
  AddShortages(group);
  group->Add({"vicinity_build_info", "1, by the version that runs", MetricKind::kGauge},
             {{"version", kVersion}}, [] { return 1.0; });
}

}  // namespace vicinity

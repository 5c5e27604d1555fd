#include "proto/common/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

namespace vicinity {
namespace {

constexpr int64_t kNoLimit = INT64_MAX;

// The folders of this process' control group and of those around it, of one controller. A container
// may see its own group as the root, or have a path that exists only outside: so each folder on the
// way up counts, and those that are not there have no files.
struct GroupFolders {
  std::vector<std::string> folders;
  bool is_v2 = false;
};

void AddFolders(const std::string& base, std::string path, bool is_v2,
                std::vector<GroupFolders>* found) {
  GroupFolders group;
  group.is_v2 = is_v2;
  while (path.size() > 1) {
    group.folders.push_back(base + path);
    path.resize(path.rfind('/'));
  }
  group.folders.push_back(base);
  found->push_back(std::move(group));
}

// Of version 2, and of version 1 where the controller has a hierarchy of its own.
std::vector<GroupFolders> FoldersOf(const std::string& root, const std::string& controller) {
  const std::string base = root + "/sys/fs/cgroup";
  const std::string of_controller = base + "/" + controller;
  std::vector<GroupFolders> found;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:cpu,cpuacct:/path", "0::/path"
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      AddFolders(base, path, /*is_v2=*/true, &found);
    } else if (("," + controllers + ",").find("," + controller + ",") != std::string::npos) {
      AddFolders(of_controller, path, /*is_v2=*/false, &found);
    }
  }
  return found;
}

// The number that a file begins with; nothing if it has none ("max").
std::optional<int64_t> NumberIn(const std::string& path) {
  int64_t number = 0;
  std::ifstream file(path);
  if (file >> number) return number;
  return std::nullopt;
}

// Of lines "name number" or "name: number kB"; nothing if there is no such line.
std::optional<int64_t> NumberNamed(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    int64_t number = 0;
    if (words >> word >> number && word == name) return number;
  }
  return std::nullopt;
}

// Calls visit(folder, is_v2) for each group that this process is in.
template <typename Visit>
void ForEachGroup(const std::string& root, const std::string& controller, const Visit& visit) {
  for (const GroupFolders& group : FoldersOf(root, controller)) {
    for (const std::string& folder : group.folders) visit(folder, group.is_v2);
  }
}

int64_t MemoryLimit(const std::string& folder, bool is_v2) {
  return NumberIn(folder + (is_v2 ? "/memory.max" : "/memory.limit_in_bytes")).value_or(kNoLimit);
}

// Without the page cache of files, which the kernel gives back before it refuses: so it counts what
// is available to the whole machine, too.
int64_t MemoryInUse(const std::string& folder, bool is_v2) {
  const std::string stat = folder + "/memory.stat";
  const std::string prefix = is_v2 ? "" : "total_";
  const int64_t all =
      NumberIn(folder + (is_v2 ? "/memory.current" : "/memory.usage_in_bytes")).value_or(0);
  const int64_t cache = NumberNamed(stat, prefix + "inactive_file").value_or(0) +
                        NumberNamed(stat, prefix + "active_file").value_or(0);
  return std::max<int64_t>(all - cache, 0);
}

int CoresOfAffinity() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return CPU_COUNT(&cores);
  return static_cast<int>(std::thread::hardware_concurrency());  // more than a cpu_set_t holds
}

// Of time in each period, in whole cores; kNoLimit if the group has no such limit.
int64_t CoresOfQuota(const std::string& folder, bool is_v2) {
  int64_t quota = -1;
  int64_t period = 0;
  if (is_v2) {
    std::ifstream file(folder + "/cpu.max");  // "150000 100000", "max 100000"
    if (!(file >> quota >> period)) return kNoLimit;
  } else {
    quota = NumberIn(folder + "/cpu.cfs_quota_us").value_or(-1);
    period = NumberIn(folder + "/cpu.cfs_period_us").value_or(0);
  }
  if (quota <= 0 || period <= 0) return kNoLimit;
  return (quota - 1) / period + 1;
}

}  // namespace

int64_t TotalMemory(const std::string& root) {
  int64_t total = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  ForEachGroup(root, "memory", [&total](const std::string& folder, bool is_v2) {
    total = std::min(total, MemoryLimit(folder, is_v2));
  });
  return total;
}

int64_t AvailableMemory(const std::string& root) {
  const std::optional<int64_t> kibibytes = NumberNamed(root + "/proc/meminfo", "MemAvailable:");
  int64_t available = kibibytes.has_value() ? *kibibytes * 1024 : kNoLimit;
  ForEachGroup(root, "memory", [&available](const std::string& folder, bool is_v2) {
    const int64_t limit = MemoryLimit(folder, is_v2);
    if (limit == kNoLimit) return;
    available = std::min(available, std::max<int64_t>(limit - MemoryInUse(folder, is_v2), 0));
  });
  return available == kNoLimit ? -1 : available;
}

int NumCores(const std::string& root) {
  int64_t cores = CoresOfAffinity();
  ForEachGroup(root, "cpu", [&cores](const std::string& folder, bool is_v2) {
    cores = std::min(cores, CoresOfQuota(folder, is_v2));
  });
  return static_cast<int>(std::max<int64_t>(cores, 1));
}

int64_t AvailableTasks(const std::string& root) {
  int64_t available = kNoLimit;
  ForEachGroup(root, "pids", [&available](const std::string& folder, bool) {
    const std::optional<int64_t> most = NumberIn(folder + "/pids.max");
    const std::optional<int64_t> now = NumberIn(folder + "/pids.current");
    if (!most.has_value() || !now.has_value()) return;
    available = std::min(available, std::max<int64_t>(*most - *now, 0));
  });
  return available;
}

}  // namespace vicinity

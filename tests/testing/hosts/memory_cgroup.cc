#include "tests/testing/hosts/memory_cgroup.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "proto/common/status.h"

namespace vicinity::testing {
namespace {

constexpr char kGroups[] = "/sys/fs/cgroup/memory";
constexpr int kMostTries = 200;  // the kernel lets go of the dead a little after they are gone
constexpr std::chrono::milliseconds kBetweenTries(10);

}  // namespace

absl::StatusOr<std::unique_ptr<MemoryCgroup>> MemoryCgroup::Create(int64_t limit_bytes) {
  static std::atomic<int> number{0};
  const std::string folder = absl::StrCat(kGroups, "/vicinity-test-", getpid(), "-", number++);
  if (mkdir(folder.c_str(), 0755) != 0) {
    return absl::UnavailableError(absl::StrCat(folder, ": ", std::strerror(errno)));
  }
  auto group = std::unique_ptr<MemoryCgroup>(new MemoryCgroup(folder));
  VICINITY_RETURN_IF_ERROR(group->Write("memory.limit_in_bytes", limit_bytes));
  return group;
}

MemoryCgroup::~MemoryCgroup() {
  for (int i = 0; i < kMostTries && rmdir(folder_.c_str()) != 0 && errno == EBUSY; ++i) {
    std::this_thread::sleep_for(kBetweenTries);
  }
}

absl::Status MemoryCgroup::Add(int pid) { return Write("cgroup.procs", pid); }

absl::Status MemoryCgroup::Write(const std::string& file, int64_t value) const {
  std::ofstream out(absl::StrCat(folder_, "/", file));
  out << value << std::flush;
  if (out) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(folder_, "/", file, " does not take ", value));
}

int64_t MemoryCgroup::most_bytes() const {
  int64_t most = -1;
  std::ifstream(folder_ + "/memory.max_usage_in_bytes") >> most;
  return most;
}

int64_t MemoryCgroup::killed() const {
  std::ifstream control(folder_ + "/memory.oom_control");
  std::string key;
  int64_t value = 0;
  while (control >> key >> value) {
    if (key == "oom_kill") return value;
  }
  return 0;
}

}  // namespace vicinity::testing

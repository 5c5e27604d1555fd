#include "proto/common/machine.h"

#include <sched.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>

#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int64_t kMib = int64_t{1} << 20;

// A folder with /proc and /sys as a container sees them.
class Container {
 public:
  std::string root() const { return folder_.path(); }
  void Put(const std::string& path, const std::string& text) const {
    const std::filesystem::path full(root() + path);
    std::filesystem::create_directories(full.parent_path());
    VICINITY_REQUIRE_OK(WriteFileAtomically(full.string(), text + "\n"));
  }

 private:
  const testing::TempDir folder_;
};

TEST_CASE("a machine without containers has what the system says", "[machine]") {
  const Container nothing;
  CHECK(TotalMemory(nothing.root()) > 64 * kMib);
  CHECK(AvailableMemory(nothing.root()) == -1);
  nothing.Put("/proc/meminfo", "MemTotal: 4096 kB\nMemFree: 10 kB\nMemAvailable:    2048 kB");
  CHECK(AvailableMemory(nothing.root()) == 2 * kMib);
  CHECK(NumCores(nothing.root()) >= 1);
  CHECK(AvailableTasks(nothing.root()) == INT64_MAX);
  // And where the tests run, whatever that is.
  CHECK(TotalMemory() > 64 * kMib);
  CHECK(AvailableMemory() > 0);
  CHECK(AvailableMemory() <= TotalMemory());
}

TEST_CASE("a container's limits of version 2 count, the tightest of those around it", "[machine]") {
  const Container v2;
  v2.Put("/proc/meminfo", "MemAvailable: 999999999 kB");
  v2.Put("/proc/self/cgroup", "0::/outer/inner");
  v2.Put("/sys/fs/cgroup/outer/memory.max", "33554432");
  v2.Put("/sys/fs/cgroup/outer/memory.current", "30000000");
  v2.Put("/sys/fs/cgroup/outer/memory.stat",
         "anon 1\nfile 25000000\ninactive_file 15000000\nactive_file 5000000");
  v2.Put("/sys/fs/cgroup/outer/inner/memory.max", "max");
  v2.Put("/sys/fs/cgroup/outer/inner/cpu.max", "max 100000");
  v2.Put("/sys/fs/cgroup/outer/cpu.max", "50000 100000");
  v2.Put("/sys/fs/cgroup/outer/inner/pids.max", "20");
  v2.Put("/sys/fs/cgroup/outer/inner/pids.current", "13");
  CHECK(TotalMemory(v2.root()) == 32 * kMib);
  CHECK(AvailableMemory(v2.root()) == 32 * kMib - 10'000'000);  // its cache can be had
  CHECK(NumCores(v2.root()) == 1);
  CHECK(AvailableTasks(v2.root()) == 7);
}

TEST_CASE("a container's limits of version 1 count", "[machine]") {
  const Container v1;
  v1.Put("/proc/meminfo", "MemAvailable: 999999999 kB");
  v1.Put("/proc/self/cgroup",
         "8:pids:/\n5:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/\n0::/");
  v1.Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  v1.Put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "67108864");
  v1.Put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "67108864");
  v1.Put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "100000");
  v1.Put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000");
  v1.Put("/sys/fs/cgroup/pids/pids.max", "5");
  v1.Put("/sys/fs/cgroup/pids/pids.current", "9");
  CHECK(TotalMemory(v1.root()) == 64 * kMib);
  CHECK(AvailableMemory(v1.root()) == 0);
  CHECK(NumCores(v1.root()) == 1);
  CHECK(AvailableTasks(v1.root()) == 0);
}

TEST_CASE("a group whose path exists only outside the container is that at its root", "[machine]") {
  const Container inside;
  inside.Put("/proc/self/cgroup", "4:memory:/docker/0123456789ab");
  inside.Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "33554432");
  CHECK(TotalMemory(inside.root()) == 32 * kMib);
}

TEST_CASE("cores that this process may not run on do not count", "[machine]") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  }
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK(NumCores() == 1);
  REQUIRE(sched_setaffinity(0, sizeof(before), &before) == 0);
}

TEST_CASE("files that make no sense are no limit", "[machine]") {
  const Container odd;
  odd.Put("/proc/self/cgroup", "nonsense\n0:\n0::\n7:memory:relative\n0::/x");
  odd.Put("/sys/fs/cgroup/x/memory.max", "lots");
  odd.Put("/sys/fs/cgroup/x/cpu.max", "100000 0");
  odd.Put("/sys/fs/cgroup/x/pids.max", "max");
  CHECK(TotalMemory(odd.root()) > 64 * kMib);
  CHECK(AvailableMemory(odd.root()) == -1);
  CHECK(NumCores(odd.root()) >= 1);
  CHECK(AvailableTasks(odd.root()) == INT64_MAX);
}

}  // namespace
}  // namespace vicinity

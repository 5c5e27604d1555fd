#include "client/cli/commands/operate/machine_checks.h"

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "proto/common/file.h"
#include "proto/common/machine.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

// A /proc and a /sys of the test's own.
class Machine {
 public:
  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder_.File("root" + path);
    std::filesystem::create_directories(file.parent_path());
    VICINITY_REQUIRE_OK(WriteFileAtomically(file.string(), text));
  }
  Finding Find(const std::string& what) const {
    const std::vector<Finding> findings = CheckMachine(folder_.File("root"));
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [&](const Finding& finding) { return finding.what == what; });
    REQUIRE(found != findings.end());
    return *found;
  }
  size_t NumFindings() const { return CheckMachine(folder_.File("root")).size(); }
  std::string root() const { return folder_.File("root"); }

 private:
  const testing::TempDir folder_;
};

TEST_CASE("what the system does not tell is passed over", "[doctor]") {
  Machine machine;
  const size_t without = machine.NumFindings();
  machine.Write("/proc/sys/vm/max_map_count", "65530\n");
  CHECK(machine.NumFindings() == without + 1);
}

TEST_CASE("few mappings and pages that are never huge are warned about", "[doctor]") {
  Machine machine;
  machine.Write("/proc/sys/vm/max_map_count", "65530\n");
  CHECK(machine.Find("mappings").verdict == Verdict::kGood);
  machine.Write("/proc/sys/vm/max_map_count", "1000\n");
  CHECK(machine.Find("mappings").verdict == Verdict::kWarning);
  CHECK_THAT(machine.Find("mappings").remedy, Catch::Contains("vm.max_map_count"));

  const std::string huge = "/sys/kernel/mm/transparent_hugepage/enabled";
  machine.Write(huge, "always [madvise] never\n");
  CHECK(machine.Find("huge pages").verdict == Verdict::kGood);
  machine.Write(huge, "always madvise [never]\n");
  CHECK(machine.Find("huge pages").verdict == Verdict::kWarning);
}

TEST_CASE("a limit of files is judged by what a server wants", "[doctor]") {
  const Machine machine;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const auto with = [&](rlim_t files) {
    const rlimit limit = {std::min(files, before.rlim_max), before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
    const Finding finding = machine.Find("open files");
    setrlimit(RLIMIT_NOFILE, &before);
    return finding;
  };
  CHECK(with(200).verdict == Verdict::kWarning);
  CHECK(with(50).verdict == Verdict::kFault);
  CHECK_THAT(with(200).remedy, Catch::Contains("ulimit -n"));
  if (before.rlim_max >= 10'000) CHECK(with(10'000).verdict == Verdict::kGood);
}

TEST_CASE("files beyond the memory come from the disk", "[doctor]") {
  CHECK(CheckPageCache(1).verdict == Verdict::kGood);
  CHECK(CheckPageCache(TotalMemory() + 1).verdict == Verdict::kWarning);
  CHECK_FALSE(CheckPageCache(TotalMemory() + 1).remedy.empty());
}

}  // namespace
}  // namespace vicinity::cli

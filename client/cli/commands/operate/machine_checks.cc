#include "client/cli/commands/operate/machine_checks.h"

#include <sys/resource.h>
#include <sys/timex.h>

#include <algorithm>
#include <limits>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/common/file.h"
#include "proto/common/human_text.h"
#include "proto/common/machine.h"

namespace vicinity::cli {
namespace {

// docs/operations.md, "Limits of the machine and the container".
constexpr int64_t kFilesWanted = 10'000;
constexpr int64_t kFilesAtLeast = 64;
constexpr int64_t kTasksWanted = 100;
constexpr int64_t kTasksAtLeast = 32;
constexpr int64_t kMappingsWanted = 65530;  // the kernel's own default

Finding CheckOpenFiles() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  Finding finding{"open files", Verdict::kGood, absl::StrCat("up to ", limit.rlim_cur), ""};
  if (limit.rlim_cur >= kFilesWanted) return finding;
  finding.verdict = limit.rlim_cur < kFilesAtLeast ? Verdict::kFault : Verdict::kWarning;
  finding.remedy = absl::StrCat("ulimit -n ", kFilesWanted, " or more (LimitNOFILE= of systemd)");
  return finding;
}

Finding CheckTasks(const std::string& root) {
  int64_t tasks = AvailableTasks(root);
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    tasks = std::min(tasks, static_cast<int64_t>(limit.rlim_cur));
  }
  Finding finding{"processes and threads", Verdict::kGood, "", ""};
  finding.found = tasks == std::numeric_limits<int64_t>::max() ? std::string("without a limit")
                                                               : absl::StrCat("up to ", tasks);
  if (tasks >= kTasksWanted) return finding;
  finding.verdict = tasks < kTasksAtLeast ? Verdict::kFault : Verdict::kWarning;
  finding.remedy = absl::StrCat("ulimit -u ", kTasksWanted,
                                " or more, or a higher limit of the container's processes");
  return finding;
}

Finding CheckAddressSpace() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) {
    return {"address space", Verdict::kGood, "without a limit", ""};
  }
  return {"address space", Verdict::kWarning,
          absl::StrCat("up to ", HumanBytes(static_cast<int64_t>(limit.rlim_cur))),
          "ulimit -v unlimited: a server maps all its files, and needs 1 GiB beside them"};
}

void CheckMappings(const std::string& root, std::vector<Finding>* findings) {
  const absl::StatusOr<std::string> text = ReadFile(root + "/proc/sys/vm/max_map_count");
  int64_t most = 0;
  if (!text.ok() || !absl::SimpleAtoi(*text, &most)) return;
  Finding finding{"mappings", Verdict::kGood, absl::StrCat("up to ", most), ""};
  if (most < kMappingsWanted) {
    finding.verdict = Verdict::kWarning;
    finding.remedy = absl::StrCat("sysctl vm.max_map_count=", kMappingsWanted, " or more");
  }
  findings->push_back(std::move(finding));
}

// Rows and lists are read at random all over: with pages of 4 KiB each read is also a miss of the
// TLB.
void CheckHugePages(const std::string& root, std::vector<Finding>* findings) {
  const auto text = ReadFile(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  if (!text.ok()) return;
  if (!absl::StrContains(*text, "[never]")) {
    findings->push_back({"huge pages", Verdict::kGood, "to be had", ""});
    return;
  }
  findings->push_back({"huge pages", Verdict::kWarning, "switched off: reads at random are slower",
                       "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"});
}

// Certificates and the times of draws go by it.
Finding CheckClock() {
  timex state{};
  const int answer = adjtimex(&state);
  if (answer == -1 || (answer != TIME_ERROR && (state.status & STA_UNSYNC) == 0)) {
    return {"clock", Verdict::kGood,
            answer == -1 ? "the system does not tell" : "kept by a time service", ""};
  }
  return {"clock", Verdict::kWarning, "kept by no time service",
          "run chrony or systemd-timesyncd: certificates have times"};
}

}  // namespace

std::vector<Finding> CheckMachine(const std::string& root) {
  std::vector<Finding> findings = {CheckOpenFiles(), CheckTasks(root), CheckAddressSpace()};
  CheckMappings(root, &findings);
  CheckHugePages(root, &findings);
  findings.push_back(CheckClock());
  return findings;
}

Finding CheckPageCache(int64_t file_bytes, const std::string& root) {
  const int64_t memory = TotalMemory(root);
  Finding finding{
      "page cache", Verdict::kGood,
      absl::StrCat("files of ", HumanBytes(file_bytes), ", memory of ", HumanBytes(memory)), ""};
  if (file_bytes <= memory) return finding;
  finding.verdict = Verdict::kWarning;
  finding.remedy =
      "rows that do not fit come from the disk: fewer shards on this machine, or a fast disk";
  return finding;
}

}  // namespace vicinity::cli

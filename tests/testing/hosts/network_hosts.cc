#include "tests/testing/hosts/network_hosts.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity::testing {
namespace {

constexpr absl::Duration kLimit = absl::Seconds(20);
// As much as a limited link lets through at once, and how long a packet may queue for it.
constexpr int kBurstBytes = 32 << 10;
constexpr int kQueueMs = 100;

std::string NamespaceOf(const std::string& process) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + process + "/ns/net", error).string();
}

absl::Status CheckPrograms() {
  for (const char* program : {"ip", "tc", "nft", "unshare", "nsenter"}) {
    bool found = false;
    for (const char* folder : {"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"}) {
      found = found || access(absl::StrCat(folder, program).c_str(), X_OK) == 0;
    }
    if (!found) return absl::FailedPreconditionError(absl::StrCat("no program ", program));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<NetworkHosts>> NetworkHosts::Make(int num_hosts) {
  VICINITY_RETURN_IF_ERROR(CheckPrograms());
  if (unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("network namespaces are not permitted here: ", std::strerror(errno)));
  }
  auto hosts = std::unique_ptr<NetworkHosts>(new NetworkHosts());
  absl::Status tried = hosts->Run("ip link set lo up");
  for (int host = 0; host < num_hosts && tried.ok(); ++host) tried = hosts->AddHost();
  // A kernel may have namespaces, and no veth, nftables or tbf.
  if (tried.ok()) tried = hosts->Lose(0, LostWay::kBoth, 50);
  if (tried.ok()) tried = hosts->LimitRate(0, 1'000'000);
  if (tried.ok()) tried = hosts->LimitRate(0, 0);
  if (tried.ok()) tried = hosts->Heal(0);
  if (!tried.ok()) return absl::FailedPreconditionError(tried.message());
  hosts->names_ = hosts->TakeNames();
  return hosts;
}

absl::Status NetworkHosts::TakeNames() {
  VICINITY_RETURN_IF_ERROR(WriteFileAtomically(folder_.File("hosts"), "127.0.0.1 localhost\n"));
  // Of this process' mounts alone.
  if (mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount(folder_.File("hosts").c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("/etc/hosts cannot be replaced here: ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

absl::Status NetworkHosts::SetNames(const std::string& lines) {
  VICINITY_RETURN_IF_ERROR(names_);
  // In place: another file of this name would not be the one that is mounted.
  std::ofstream file(folder_.File("hosts"), std::ios::trunc);
  file << "127.0.0.1 localhost\n" << lines;
  file.close();
  return file.fail() ? absl::UnavailableError("the file of names cannot be written")
                     : absl::OkStatus();
}

NetworkHosts::~NetworkHosts() = default;  // a cable goes with either of its ends

std::string NetworkHosts::address(int host) const { return absl::StrCat("10.92.", host, ".2"); }

std::string NetworkHosts::here(int host) const { return absl::StrCat("10.92.", host, ".1"); }

std::string NetworkHosts::Cable(int host) const { return absl::StrCat("cable", host); }

std::vector<std::string> NetworkHosts::RunThere(int host) const {
  return {"/usr/bin/nsenter", absl::StrCat("--net=/proc/", holders_[host]->pid(), "/ns/net"), "--"};
}

absl::Status NetworkHosts::Enter(int host) const {
  const std::string path = absl::StrCat("/proc/", holders_[host]->pid(), "/ns/net");
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int entered = fd < 0 ? -1 : setns(fd, CLONE_NEWNET);
  const int error = errno;
  if (fd >= 0) close(fd);
  if (entered == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(error)));
}

std::string NetworkHosts::There(int host) const { return absl::StrJoin(RunThere(host), " "); }

absl::Status NetworkHosts::AddHost() {
  const int host = size();
  VICINITY_ASSIGN_OR_RETURN(
      auto holder, RunningProgram::Start({"/usr/bin/unshare", "--net", "/bin/sleep", "infinity"}));
  const std::string pid = absl::StrCat(holder->pid());
  holders_.push_back(std::move(holder));
  const absl::Time end = absl::Now() + kLimit;
  while (NamespaceOf(pid) == NamespaceOf("self")) {
    if (absl::Now() > end) return absl::DeadlineExceededError("unshare --net: still here");
    absl::SleepFor(absl::Milliseconds(1));
  }
  return Run(absl::StrCat("ip link add ", Cable(host), " type veth peer name eth0 netns ", pid,
                          " && ip address add ", here(host), "/30 dev ", Cable(host),
                          " && ip link set ", Cable(host), " up && ", There(host),
                          " ip link set lo up && ", There(host), " ip address add ", address(host),
                          "/30 dev eth0 && ", There(host), " ip link set eth0 up"));
}

absl::Status NetworkHosts::JoinHosts() {
  std::vector<std::string> commands = {"echo 1 > /proc/sys/net/ipv4/ip_forward"};
  for (int host = 0; host < size(); ++host) {
    commands.push_back(absl::StrCat(There(host), " ip route add default via ", here(host)));
  }
  return Run(absl::StrJoin(commands, " && "));
}

absl::Status NetworkHosts::Run(const std::string& command) const {
  VICINITY_ASSIGN_OR_RETURN(
      const auto shell,
      RunningProgram::Start({"/bin/sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; " + command}));
  VICINITY_ASSIGN_OR_RETURN(const int code, shell->WaitForExit(kLimit));
  if (code == 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(command, ": ended with ", code, ": ", shell->output()));
}

absl::Status NetworkHosts::Lose(int host, LostWay way, int percent) {
  const std::string table = absl::StrCat("inet ", Cable(host));
  const std::string lost =
      percent >= 100 ? "drop" : absl::StrCat("numgen random mod 100 '<' ", percent, " drop");
  std::vector<std::string> commands = {"nft add table " + table};
  struct Hook {
    const char* name;
    const char* device;
    bool used;
  };
  // What other hosts send and get is forwarded, and neither input nor output.
  for (const Hook& hook :
       std::array<Hook, 4>{{{"input", "iifname", way != LostWay::kToHost},
                            {"output", "oifname", way != LostWay::kFromHost},
                            {"forward", "iifname", way != LostWay::kToHost},
                            {"forward", "oifname", way != LostWay::kFromHost}}}) {
    if (!hook.used) continue;
    commands.push_back(absl::StrCat("nft add chain ", table, " ", hook.name,
                                    " '{ type filter hook ", hook.name, " priority 0; }'"));
    commands.push_back(absl::StrCat("nft add rule ", table, " ", hook.name, " ", hook.device, " ",
                                    Cable(host), " ", lost));
  }
  return Run(absl::StrJoin(commands, " && "));
}

absl::Status NetworkHosts::PullCable(int host) {
  return Run(absl::StrCat(There(host), " ip link set eth0 down"));
}

absl::Status NetworkHosts::ForgetRoute(int host) {
  return Run(absl::StrCat("ip route add blackhole ", address(host), "/32"));
}

absl::Status NetworkHosts::LimitRate(int host, int64_t bits_per_second) {
  std::vector<std::string> commands;
  for (const std::string& device : {absl::StrCat("tc qdisc replace dev ", Cable(host)),
                                    absl::StrCat(There(host), " tc qdisc replace dev eth0")}) {
    commands.push_back(bits_per_second == 0
                           ? absl::StrCat(device, " root pfifo limit 1000")
                           : absl::StrCat(device, " root tbf rate ", bits_per_second, " burst ",
                                          kBurstBytes, " latency ", kQueueMs, "ms"));
  }
  return Run(absl::StrJoin(commands, " && "));
}

absl::Status NetworkHosts::Heal(int host) {
  return Run(absl::StrCat("{ nft delete table inet ", Cable(host), " 2>/dev/null || true; }; ",
                          "{ ip route del blackhole ", address(host),
                          "/32 2>/dev/null || true; }; ", There(host), " ip link set eth0 up"));
}

}  // namespace vicinity::testing

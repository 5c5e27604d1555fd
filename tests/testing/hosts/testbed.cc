#include "tests/testing/hosts/testbed.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "proto/common/file.h"
#include "proto/common/status.h"
#include "tests/testing/hosts/free_port.h"

namespace vicinity::testing {
namespace {

constexpr char kDaemon[] = "server/vicinityd";
constexpr size_t kTailBytes = 4096;
// Between two looks for the ready file, spent watching the process.
constexpr absl::Duration kLookEvery = absl::Milliseconds(5);

std::string NameOf(int server) { return absl::StrCat("s", server); }

std::string ShardsOf(int server, const TestbedOptions& options) {
  std::vector<int32_t> shards;
  for (int32_t shard = 0; shard < options.graph.num_shards; ++shard) {
    const int behind = (server - shard % options.num_servers + options.num_servers);
    if (behind % options.num_servers < options.replicas) shards.push_back(shard);
  }
  return absl::StrJoin(shards, ",");
}

// Fields 14 and 15 of /proc/[pid]/stat, counted behind the name, which may have spaces (proc(5)).
double CpuSeconds(const std::string& process) {
  std::ifstream file(process + "/stat");
  std::string stat;
  std::getline(file, stat);
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Testbed>> Testbed::Start(const TestbedOptions& options) {
  const int most_servers = options.graph.num_shards + options.replicas - 1;  // each has a shard
  if (options.num_servers < 1 || options.num_servers > most_servers || options.replicas < 1 ||
      options.replicas > options.num_servers ||
      (!options.hosts.empty() && static_cast<int>(options.hosts.size()) != options.num_servers)) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.num_servers, " servers for ", options.replicas, " replicas of ",
                     options.graph.num_shards, " shards on ", options.hosts.size(), " hosts"));
  }
  auto testbed = std::unique_ptr<Testbed>(new Testbed(options));
  const uint64_t version = options.graph.version;
  VICINITY_RETURN_IF_ERROR(testbed->WriteDataset(version));
  if (testbed->by_cluster_file()) VICINITY_RETURN_IF_ERROR(testbed->WriteClusterFile());
  for (int server = 0; server < options.num_servers; ++server) {
    VICINITY_RETURN_IF_ERROR(testbed->StartServer(server, version));
  }
  for (int server = 0; server < options.num_servers; ++server) {
    VICINITY_RETURN_IF_ERROR(testbed->WaitUntilReady(server));
    if (!options.proxies) continue;
    VICINITY_ASSIGN_OR_RETURN(
        testbed->servers_[server].proxy,
        ChaosProxy::Start(testbed->address(server), options.seed * 1000 + server));
  }
  if (!testbed->by_cluster_file()) VICINITY_RETURN_IF_ERROR(testbed->WriteClusterFile());
  return testbed;
}

Testbed::Testbed(const TestbedOptions& options)
    : options_(options),
      graph_(options.graph),
      exceptions_before_(std::uncaught_exceptions()),
      servers_(options.num_servers) {
  for (size_t i = 0; i < options.hosts.size(); ++i) {
    servers_[i].address = {options.hosts[i].address, options.port};
  }
  if (!by_cluster_file()) return;
  // On a host of its own a server has all ports to itself.
  for (ServerProcess& server : servers_) {
    const bool here = options.hosts.empty();
    if (here) server.address.port = FreePort(server.address.host);
    if (!here && options.port == 0) server.address.port = 7400;
    server.admin_port = here ? FreePort(server.address.host) : server.address.port + 1;
  }
}

Testbed::~Testbed() {
  if (std::uncaught_exceptions() <= exceptions_before_) return;
  for (int server = 0; server < num_servers(); ++server) {
    std::cerr << "log of " << NameOf(server) << " ends:\n" << LogTail(server) << "\n";
  }
}

std::string Testbed::DirectoryOf(uint64_t version) const {
  return folder_.File(absl::StrCat("version", version));
}

std::string Testbed::LogOf(int server) const {
  return folder_.File(absl::StrCat(NameOf(server), ".log"));
}

std::string Testbed::ReadyFileOf(int server) const {
  return folder_.File(absl::StrCat(NameOf(server), ".ready"));
}

absl::Status Testbed::WriteDataset(uint64_t version) const {
  if (std::filesystem::exists(DirectoryOf(version))) return absl::OkStatus();
  CertifiedShape shape = graph_.shape();
  shape.version = version;
  return CertifiedGraph(shape).Write(DirectoryOf(version));
}

std::string Testbed::changes(int server) const {
  const std::string& below = options_.changes_below;
  return absl::StrCat(below.empty() ? folder_.path() : below, "/", NameOf(server), ".changes");
}

std::vector<std::string> Testbed::CommandOf(int server, uint64_t version) const {
  std::vector<std::string> command = {kDaemon, "--ready-file", ReadyFileOf(server)};
  const auto add = [&command](const std::vector<std::string>& more) {
    command.insert(command.end(), more.begin(), more.end());
  };
  if (by_cluster_file()) {
    add({"--cluster", cluster_file(), "--name", NameOf(server)});
  } else {
    add({"--data", DirectoryOf(version), "--shards", ShardsOf(server, options_), "--listen",
         servers_[server].address.ToString()});
    if (!options_.hosts.empty() && options_.open) add({"--open"});
    if (options_.live) add({"--changes", changes(server)});
  }
  if (options_.live) add({"--force"});  // it is killed more often than one that is to be started
  // What goes past the proxies meets none of their faults.
  if (options_.proxies) add({"--bulk", "none"});
  add(options_.server_flags);
  return command;
}

absl::Status Testbed::StartServer(int server, uint64_t version) {
  std::error_code error;
  std::filesystem::remove(ReadyFileOf(server), error);
  // Its output goes to a file, for nobody may be there to empty a pipe; the shell becomes the
  // daemon. It dies with this thread by RunningProgram's SIGKILL, which, unlike its own
  // --die-with-parent, ends it when it is paused, too.
  std::vector<std::string> command = {"/bin/sh", "-c", "log=$1; shift; exec \"$@\" >>\"$log\" 2>&1",
                                      "sh", LogOf(server)};
  if (!options_.hosts.empty()) {
    const std::vector<std::string>& run = options_.hosts[server].run;
    command.insert(command.end(), run.begin(), run.end());
  }
  const std::vector<std::string> daemon = CommandOf(server, version);
  command.insert(command.end(), daemon.begin(), daemon.end());
  VICINITY_ASSIGN_OR_RETURN(servers_[server].program, RunningProgram::Start(command));
  return absl::OkStatus();
}

absl::Status Testbed::WaitUntilReady(int server) {
  const absl::Time deadline = absl::Now() + options_.limit;
  while (absl::Now() < deadline) {
    const absl::StatusOr<std::string> ready = ReadFile(ReadyFileOf(server));
    if (ready.ok()) {
      // A line more tells the admin port, where there is one.
      VICINITY_ASSIGN_OR_RETURN(servers_[server].address,
                                ParseHostPort(ready->substr(0, ready->find('\n'))));
      return absl::OkStatus();
    }
    const absl::StatusOr<int> code = servers_[server].program->WaitForExit(kLookEvery);
    if (code.ok()) {
      return Explain(server, absl::AbortedError(absl::StrCat("ended with ", *code)));
    }
  }
  return Explain(server, absl::DeadlineExceededError(
                             absl::StrCat("not ready in ", absl::FormatDuration(options_.limit))));
}

absl::Status Testbed::WriteClusterFile() const {
  std::string text =
      absl::StrCat("data: '", directory(), "'\nnum_shards: ", options_.graph.num_shards, "\n");
  if (!options_.hosts.empty() && options_.open) absl::StrAppend(&text, "open: true\n");
  if (options_.live) absl::StrAppend(&text, "changes: 'changes'\n");
  absl::StrAppend(&text, options_.cluster_lines);
  for (int server = 0; server < num_servers(); ++server) {
    const HostPort& dialled = options_.proxies ? proxy(server)->address() : address(server);
    absl::StrAppend(&text, "servers { name: '", NameOf(server), "' listen: '",
                    address(server).ToString(), "' advertise: '", dialled.ToString(), "' shards: [",
                    ShardsOf(server, options_), "]");
    if (servers_[server].admin_port > 0) {
      const HostPort admin = {address(server).host, servers_[server].admin_port};
      absl::StrAppend(&text, " admin: '", admin.ToString(), "' changes: '", changes(server), "'");
    }
    absl::StrAppend(&text, " }\n");
  }
  return WriteFileAtomically(cluster_file(), text);
}

absl::Status Testbed::Kill(int server) {
  if (servers_[server].program == nullptr) return absl::OkStatus();
  servers_[server].program->Signal(SIGKILL);
  return End(server).status();
}

void Testbed::Pause(int server) {
  if (servers_[server].program == nullptr) return;
  servers_[server].program->Signal(SIGSTOP);
  // The signal is only sent; the process says nothing once its last thread has stopped.
  siginfo_t stopped;
  waitid(P_PID, static_cast<id_t>(servers_[server].program->pid()), &stopped,
         WSTOPPED | WEXITED | WNOWAIT);
}

void Testbed::Continue(int server) {
  if (servers_[server].program != nullptr) servers_[server].program->Signal(SIGCONT);
}

absl::StatusOr<int> Testbed::Terminate(int server) {
  if (servers_[server].program == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(NameOf(server), " does not run"));
  }
  servers_[server].program->Signal(SIGTERM);
  servers_[server].program->Signal(SIGCONT);
  return End(server);
}

absl::StatusOr<int> Testbed::End(int server) {
  absl::StatusOr<int> code = servers_[server].program->WaitForExit(options_.limit);
  if (!code.ok()) return Explain(server, code.status());
  servers_[server].program.reset();
  return code;
}

absl::Status Testbed::Restart(int server, uint64_t version) {
  VICINITY_RETURN_IF_ERROR(WriteDataset(version));
  VICINITY_RETURN_IF_ERROR(Kill(server));
  VICINITY_RETURN_IF_ERROR(StartServer(server, version));
  return WaitUntilReady(server);
}

absl::StatusOr<ProcessUse> Testbed::Use(int server) const {
  if (servers_[server].program == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(NameOf(server), " does not run"));
  }
  const std::string process = absl::StrCat("/proc/", servers_[server].program->pid());
  ProcessUse use;
  std::ifstream status(process + "/status");
  for (std::string key; status >> key;) {
    if (key == "VmRSS:") {
      status >> use.resident_bytes;
      use.resident_bytes *= 1024;
    } else if (key == "VmHWM:") {
      status >> use.peak_resident_bytes;
      use.peak_resident_bytes *= 1024;
    } else if (key == "Threads:") {
      status >> use.threads;
    }
  }
  use.cpu_seconds = CpuSeconds(process);
  std::error_code error;
  const std::filesystem::directory_iterator files(process + "/fd", error);
  use.open_files = std::distance(begin(files), end(files));
  if (use.threads == 0 || error) return absl::UnavailableError(process + " cannot be read");
  return use;
}

int Testbed::pid(int server) const {
  const ServerProcess& process = servers_[server];
  return process.program == nullptr ? -1 : static_cast<int>(process.program->pid());
}

std::string Testbed::LogTail(int server) const {
  const absl::StatusOr<std::string> log = ReadFile(LogOf(server));
  if (!log.ok()) return std::string(log.status().message());
  if (log->size() <= kTailBytes) return *log;
  const size_t line = log->find('\n', log->size() - kTailBytes);
  return log->substr(line == std::string::npos ? log->size() - kTailBytes : line + 1);
}

absl::StatusOr<std::string> Testbed::Log(int server) const { return ReadFile(LogOf(server)); }

absl::Status Testbed::Explain(int server, const absl::Status& status) const {
  return absl::Status(status.code(), absl::StrCat(NameOf(server), ": ", status.message(),
                                                  "; its log ends:\n", LogTail(server)));
}

}  // namespace vicinity::testing

// The daemon: parse, build, run, report.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "proto/common/last_words.h"
#include "proto/common/status.h"
#include "server/config.h"
#include "server/exit_code.h"
#include "server/logging/log_ring.h"
#include "server/logging/log_sink.h"
#include "server/logging/logging.h"
#include "server/port_probe.h"
#include "server/server.h"
#include "server/service_manager.h"
#include "server/start_record.h"
#include "server/stop_signals.h"

namespace {

// How long the end waits for a log that nobody reads.
constexpr std::chrono::seconds kLastLines(1);

absl::Status WriteReadyFile(const vicinity::ServerConfig& config, const vicinity::Server& server) {
  if (config.ready_file.empty()) return absl::OkStatus();
  std::string addresses = server.address().ToString() + "\n";
  if (server.admin_address() != nullptr) {
    addresses += "admin " + server.admin_address()->ToString() + "\n";
  }
  if (server.http_address() != nullptr) {
    addresses += "http " + server.http_address()->ToString() + "\n";
  }
  return vicinity::WriteFileAtomically(config.ready_file, addresses);
}

// What a service manager is told while the server runs.
absl::Status TellReady(const vicinity::Server& server, vicinity::ServiceManager* manager) {
  VICINITY_ASSIGN_OR_RETURN(const auto probe, vicinity::PortProbe::Create(server.address()));
  manager->Ready(server.Describe());
  return manager->WatchOver([probe](auto limit) { return probe.Answers(limit); });
}

// Until a signal says stop; its number.
int WaitUntilStopped(vicinity::Server* server, spdlog::logger* log) {
  return vicinity::WaitForStopSignal([server, log] {
    const absl::Status reloaded = server->ReloadCredentials();
    if (reloaded.ok()) {
      log->info("credentials read again: {}", server->Describe());
    } else {
      log->error("credentials not read again: {}", std::string(reloaded.message()));
    }
  });
}

// Null: nothing is written, and whoever starts it bounds how often.
absl::StatusOr<std::unique_ptr<vicinity::StartRecord>> CountStart(
    const vicinity::ServerConfig& config, spdlog::logger* log) {
  const vicinity::ServerOptions& server = config.server;
  if (server.changes.empty()) return nullptr;
  const vicinity::ShardId first = server.shards.empty() ? vicinity::ShardId{0} : server.shards[0];
  return vicinity::StartRecord::Begin(vicinity::StartRecord::PathIn(server.changes, first),
                                      config.force, absl::Now(), log);
}

// Serves until a signal says stop. `starts` may be null.
absl::Status Serve(const vicinity::ServerConfig& config, vicinity::StartRecord* starts,
                   spdlog::logger* log) {
  if (config.die_with_parent && !vicinity::StopWithParent()) {
    return absl::AbortedError("the process that started this one is gone");
  }
  VICINITY_ASSIGN_OR_RETURN(const auto told, vicinity::ServiceManagerOptions::FromEnvironment());
  VICINITY_ASSIGN_OR_RETURN(const auto manager, vicinity::ServiceManager::Create(told, log));
  manager->Starting("opening " + config.server.data);
  const auto begun = std::chrono::steady_clock::now();
  VICINITY_ASSIGN_OR_RETURN(const auto server, vicinity::Server::Start(config.server));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  VICINITY_RETURN_IF_ERROR(WriteReadyFile(config, *server));
  log->info("{}, ready in {:.2f} s", server->Describe(), took.count());
  VICINITY_RETURN_IF_ERROR(TellReady(*server, manager.get()));
  if (starts != nullptr) starts->Ready();
  const int signal = WaitUntilStopped(server.get(), log);
  log->info("stopping: {}", strsignal(signal));
  vicinity::ForceExitAfter(absl::ToChronoNanoseconds(config.drain) + std::chrono::seconds(5));
  if (starts != nullptr) starts->End();  // whatever becomes of stopping
  manager->Stopping("letting calls end");
  manager->StopWatching();
  server->Stop(config.drain);
  log->info("stopped");
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  // gRPC's own lines: not in our format, and anybody who connects with nonsense gets one.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  vicinity::SpeakLastWords("vicinityd");
  vicinity::BlockStopSignals();  // before any thread exists
  std::signal(SIGPIPE, SIG_IGN);
  auto line = vicinity::ParseCommandLine(std::vector<std::string>(argv + 1, argv + argc));
  if (!line.ok()) {
    std::cerr << "vicinityd: " << line.status().message()
              << "\n(`vicinityd --help` shows examples and the flags)\n";
    return vicinity::DaemonExitCode(line.status());
  }
  std::cout << line->message;
  if (!line->message.empty()) return 0;
  const auto sink = vicinity::LogSink::Start(STDERR_FILENO);
  if (!sink.ok()) {
    std::cerr << "vicinityd: " << sink.status().message() << '\n';
    return vicinity::kResourcesExitCode;
  }
  const auto ring = std::make_shared<vicinity::LogRing>();
  const auto log = vicinity::MakeLogger(line->config.log_format, line->config.log_level, *sink);
  log->sinks().push_back(ring);
  line->config.server.log = log;
  line->config.server.log_ring = ring;
  line->config.server.log_sink = *sink;
  line->config.server.drain = &vicinity::StopThisProcess;
  const auto starts = CountStart(line->config, log.get());
  const absl::Status status =
      starts.ok() ? Serve(line->config, starts->get(), log.get()) : starts.status();
  if (!status.ok()) log->error("{}", std::string(status.message()));
  if (starts.ok() && *starts != nullptr) (*starts)->End();
  (*sink)->Finish(kLastLines);
  return starts.ok() ? vicinity::DaemonExitCode(status) : vicinity::kDiesAgainExitCode;
}

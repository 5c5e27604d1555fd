// What the daemon was started with: flags, and the cluster file that they name.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/logging/logging.h"
#include "server/server_options.h"

namespace vicinity {

struct ServerConfig {
  ServerOptions server;
  absl::Duration drain = absl::Seconds(5);
  LogFormat log_format = LogFormat::kText;
  spdlog::level::level_enum log_level = spdlog::level::info;
  std::string ready_file;  // empty: none
  bool die_with_parent = false;
  bool force = false;  // start though the last starts have died (server/start_record.h)
};

struct CommandLine {
  ServerConfig config;
  std::string message;  // if not empty: print it (help, version) and do nothing else
};

// Flags, checked, with what the cluster file says filled in. InvalidArgument naming flag and value,
// or file and line; NotFound if the cluster file is not there.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& args);

}  // namespace vicinity

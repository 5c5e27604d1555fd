// What the daemon was started with: flags, and the cluster file that they name.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/server_config.h"

namespace vicinity {

struct CommandLine {
  ServerConfig config;
  std::string message;  // if not empty: print it (help, version) and do nothing else
};

// Flags, checked, with what the cluster file says filled in, and where each value comes from
// (ServerOptions::flags). InvalidArgument naming flag, value and what is accepted, or file and
// line; NotFound if the cluster file is not there.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& args);

}  // namespace vicinity

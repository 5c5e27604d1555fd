// What the daemon was started with, in the units that it works with.
#pragma once

#include <string>

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

}  // namespace vicinity

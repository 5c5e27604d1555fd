// `vicinity logs`: the last lines of servers' logs, from their memory, and those that come.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareLogs(CLI::App* app);

inline constexpr Command kLogsCommand = {
    "logs", "show the last lines of servers' logs, by time, and follow them",
    "vicinity logs --cluster cluster.textproto\n"
    "vicinity logs --cluster cluster.textproto --name a --level warning --last 1000\n"
    "vicinity logs --cluster cluster.textproto --follow",
    &DeclareLogs};

}  // namespace vicinity::cli

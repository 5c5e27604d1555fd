// `vicinity logs`: the last lines of servers' logs, from their memory.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareLogs(CLI::App* app);

inline constexpr Command kLogsCommand = {
    "logs", "show the last lines of servers' logs, by time",
    "vicinity logs --cluster cluster.textproto\n"
    "vicinity logs --cluster cluster.textproto --name a --level warning --last 1000",
    &DeclareLogs};

}  // namespace vicinity::cli

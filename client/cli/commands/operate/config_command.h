// `vicinity config`: what servers run with, and where that is not what their cluster file says.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareConfig(CLI::App* app);

inline constexpr Command kConfigCommand = {
    "config", "what the running servers run with, and how it differs from the cluster file",
    "vicinity config get --cluster cluster.textproto\n"
    "vicinity config diff --cluster cluster.textproto",
    &DeclareConfig};

}  // namespace vicinity::cli

// `vicinity status`: what the servers are doing.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareStatus(CLI::App* app);

inline constexpr Command kStatusCommand = {
    "status", "show what each server serves and how busy it is",
    "vicinity status --cluster cluster.textproto", &DeclareStatus};

}  // namespace vicinity::cli

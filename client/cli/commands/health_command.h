// `vicinity health`: do all servers serve?
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareHealth(CLI::App* app);

inline constexpr Command kHealthCommand = {
    "health", "ask every server whether it serves; exit code 5 if one does not",
    "vicinity health --cluster cluster.textproto\n"
    "vicinity health --cluster cluster.textproto --wait 300",
    &DeclareHealth};

}  // namespace vicinity::cli

// `vicinity top`: what the servers do, second by second.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareTop(CLI::App* app);

inline constexpr Command kTopCommand = {
    "top", "show the servers' load as it is: calls and bytes a second, calls in flight, memory",
    "vicinity top --cluster cluster.textproto\n"
    "vicinity top --cluster cluster.textproto --once --format json",
    &DeclareTop};

}  // namespace vicinity::cli

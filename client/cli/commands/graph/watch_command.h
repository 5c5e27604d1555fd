// `vicinity watch`: what is written to a live graph, as it is written.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareWatch(CLI::App* app);

inline constexpr Command kWatchCommand = {
    "watch", "show what is written to a live graph, a line a batch",
    "vicinity watch --cluster cluster.textproto\n"
    "vicinity watch --cluster cluster.textproto --from 0 --once --format json",
    &DeclareWatch};

}  // namespace vicinity::cli

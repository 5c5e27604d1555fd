// `vicinity context`: the clusters that a user works with, by names of the user's own.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareContext(CLI::App* app);

inline constexpr Command kContextCommand = {
    "context", "names for clusters, and which one commands mean without --cluster",
    "vicinity context set production --cluster /etc/vicinity/cluster.textproto\n"
    "vicinity context use production\n"
    "vicinity context list",
    &DeclareContext};

}  // namespace vicinity::cli

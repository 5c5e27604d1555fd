// `vicinity fold`: new files of a dataset and of what was written to it while it was served.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareFold(CLI::App* app);

inline constexpr Command kFoldCommand = {
    "fold", "make a new dataset of one and of the changes that servers have taken of it",
    "vicinity fold --data /data/graph --changes /data/changes --out /data/graph-2\n"
    "vicinity fold --data /data/graph --cluster cluster.textproto --out /data/graph-2",
    &DeclareFold};

}  // namespace vicinity::cli

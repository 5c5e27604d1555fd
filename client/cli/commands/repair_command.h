// `vicinity repair`: sound copies in the place of damaged files.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareRepair(CLI::App* app);

inline constexpr Command kRepairCommand = {
    "repair", "replace damaged files of a dataset by a replica's",
    "vicinity repair /data/graph --cluster cluster.textproto\n"
    "vicinity repair /data/graph --from /mnt/backup/graph",
    &DeclareRepair};

}  // namespace vicinity::cli

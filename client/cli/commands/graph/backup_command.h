// `vicinity backup`: what was written to a live graph, kept elsewhere and brought back.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareBackup(CLI::App* app);

inline constexpr Command kBackupCommand = {
    "backup", "keep what was written to a live graph elsewhere, check it, and bring it back",
    "vicinity backup create --cluster cluster.textproto --to /backup/graph\n"
    "vicinity backup verify --from /backup/graph\n"
    "vicinity backup restore --from /backup/graph --data graph/shards --changes changes",
    &DeclareBackup};

}  // namespace vicinity::cli

// `vicinity rebuild`: the dataset of a server that has lost its disk.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareRebuild(CLI::App* app);

inline constexpr Command kRebuildCommand = {
    "rebuild", "bring a server's shards to an empty disk",
    "vicinity rebuild --cluster cluster.textproto --name host-b", &DeclareRebuild};

}  // namespace vicinity::cli

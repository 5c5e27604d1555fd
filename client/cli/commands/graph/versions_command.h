// `vicinity versions`: how far the shards of a live graph are.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareVersions(CLI::App* app);

inline constexpr Command kVersionsCommand = {
    "versions", "show the shards of a live graph: versions, nodes and edges",
    "vicinity versions --cluster cluster.textproto", &DeclareVersions};

}  // namespace vicinity::cli

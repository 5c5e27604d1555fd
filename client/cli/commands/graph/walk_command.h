// `vicinity walk`: random walks on a graph.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareWalk(CLI::App* app);

inline constexpr Command kWalkCommand = {
    "walk", "draw random walks and show them in user ids",
    "vicinity walk --cluster cluster.textproto --starts 1,2,3 --length 8", &DeclareWalk};

}  // namespace vicinity::cli

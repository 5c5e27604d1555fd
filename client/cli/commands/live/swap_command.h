// `vicinity swap`.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareSwap(CLI::App* app);

inline constexpr Command kSwapCommand = {
    "swap", "puts a folded dataset in the place of the one that servers serve",
    "vicinity swap --cluster cluster.textproto --data /data/graph --to /data/graph.2",
    &DeclareSwap};

}  // namespace vicinity::cli

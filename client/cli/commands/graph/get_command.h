// `vicinity get`: one node of a graph.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareGet(CLI::App* app);

inline constexpr Command kGetCommand = {
    "get", "show one node: its columns, its in-degrees and its shard",
    "vicinity get --cluster cluster.textproto --type paper --id 42 --columns label", &DeclareGet};

}  // namespace vicinity::cli

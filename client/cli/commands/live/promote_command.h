// `vicinity promote`: another server writes shards of a live graph.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclarePromote(CLI::App* app);

inline constexpr Command kPromoteCommand = {
    "promote", "let another server write shards of a live graph",
    "vicinity promote --cluster cluster.textproto --from host-a\n"
    "vicinity promote --cluster cluster.textproto --shards 3 --to host-b",
    &DeclarePromote};

}  // namespace vicinity::cli

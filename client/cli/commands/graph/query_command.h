// `vicinity query`: several steps in one call.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareQuery(CLI::App* app);

inline constexpr Command kQueryCommand = {
    "query", "run a query of several steps, or tell what it will cost",
    "vicinity query --cluster cluster.textproto --input seeds=1,2 "
    "'src = nodes(paper, $seeds); near = neighbors(src, cites, 10)'",
    &DeclareQuery};

}  // namespace vicinity::cli

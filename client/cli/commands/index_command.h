// `vicinity index`: stored indexes of columns, by which servers find nodes and edges.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareIndex(CLI::App* app);

inline constexpr Command kIndexCommand = {
    "index", "store indexes of columns, so that conditions on them read few rows",
    "vicinity index shards --nodes paper:year,paper:venue --edges cites:weight", &DeclareIndex};

}  // namespace vicinity::cli

// `vicinity import`: the user's files -> a dataset.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareImport(CLI::App* app);

inline constexpr Command kImportCommand = {
    "import", "turn edge lists, arrays and tables into a dataset",
    "vicinity import --edges edges.npy --num-nodes 2708 --features x.npy --labels y.npy \\\n"
    "    --train train.txt --test test.txt --add-reverse --output cora\n"
    "vicinity import --description movies.textproto --output movies",
    &DeclareImport};

}  // namespace vicinity::cli

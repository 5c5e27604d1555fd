// `vicinity generate`: synthetic graphs of any size.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareGenerate(CLI::App* app);

inline constexpr Command kGenerateCommand = {
    "generate", "make a synthetic graph: R-MAT, or a block model that a GNN can learn",
    "vicinity generate block-model --num-nodes 100000 --output blocks\n"
    "vicinity generate rmat --scale 22 --edges-per-node 16 --symmetric --output rmat22",
    &DeclareGenerate};

}  // namespace vicinity::cli

// `vicinity sample`: one minibatch of a graph.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareSample(CLI::App* app);

inline constexpr Command kSampleCommand = {
    "sample", "draw a minibatch and show its blocks in user ids",
    "vicinity sample --cluster cluster.textproto --seeds 1,2,3 --fanouts 15,10,5", &DeclareSample};

}  // namespace vicinity::cli

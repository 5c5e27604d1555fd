// `vicinity plan`: what remote rows will cost, before anything runs.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclarePlan(CLI::App* app);

inline constexpr Command kPlanCommand = {
    "plan", "tell the rows, bytes and seconds that a batch and an epoch will cost, by cache size",
    "vicinity plan shards --link-gbps 10 --picture plan.svg\n"
    "vicinity plan shards --share 0.25\n"
    "vicinity plan shards --cache 8G --more 8G --trainers-per-home 4",
    &DeclarePlan};

}  // namespace vicinity::cli

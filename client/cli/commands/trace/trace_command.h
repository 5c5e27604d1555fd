// `vicinity trace`: where the time of the slowest batches and calls has gone.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareTrace(CLI::App* app);

inline constexpr Command kTraceCommand = {
    "trace", "show where the time of the slowest traced batches and calls has gone",
    "vicinity trace traces.jsonl --cluster cluster.textproto --slowest 3\n"
    "vicinity trace --server 127.0.0.1:7600 --picture slow.svg",
    &DeclareTrace};

}  // namespace vicinity::cli

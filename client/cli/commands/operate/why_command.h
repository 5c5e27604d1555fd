// `vicinity why`: what a trainer waits for, and what would help.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareWhy(CLI::App* app);

inline constexpr Command kWhyCommand = {
    "why", "what a trainer waits for, by what evidence, and what would help",
    "vicinity why http://127.0.0.1:9700 --cluster cluster.textproto\n"
    "vicinity plan shards --batch-size 1024 --format json > plan.json\n"
    "vicinity why http://127.0.0.1:9700 --cluster cluster.textproto --plan plan.json\n"
    "vicinity why /var/lib/prometheus/node-exporter/vicinity_0.prom",
    &DeclareWhy};

}  // namespace vicinity::cli

// `vicinity policies`: what every cache policy would fetch, counted over real sampled epochs.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclarePolicies(CLI::App* app);

inline constexpr Command kPoliciesCommand = {
    "policies", "count the remote rows that each cache policy would fetch, by cache size",
    "vicinity policies shards --fanouts 15,10,5 --batch-size 1024\n"
    "vicinity policies shards --homes 0 --replication 0.1,0.5 --picture policies.svg",
    &DeclarePolicies};

}  // namespace vicinity::cli

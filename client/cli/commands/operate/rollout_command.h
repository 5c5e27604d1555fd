// `vicinity rollout restart`: restarts the servers of a cluster one by one.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareRollout(CLI::App* app);

inline constexpr Command kRolloutCommand = {
    "rollout", "restart a cluster's servers one by one, each when the one before is well",
    "vicinity rollout restart --cluster cluster.textproto "
    "--command 'ssh {host} systemctl restart vicinityd@{name}'",
    &DeclareRollout};

}  // namespace vicinity::cli

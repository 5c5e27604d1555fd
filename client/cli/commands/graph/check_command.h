// `vicinity check perf`: do rows come as fast as the network could bring them?
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareCheck(CLI::App* app);

inline constexpr Command kCheckCommand = {
    "check", "measure how fast rows come from here: PASS or FAIL, against the link",
    "vicinity check perf --cluster cluster.textproto --link-gbps 10", &DeclareCheck};

}  // namespace vicinity::cli

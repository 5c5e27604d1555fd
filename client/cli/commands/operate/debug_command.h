// `vicinity debug dump`: what somebody who is to help needs to see, without secrets.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareDebug(CLI::App* app);

inline constexpr Command kDebugCommand = {
    "debug", "gather what somebody who is to help needs to see, without secrets",
    "vicinity debug dump --cluster cluster.textproto --output dump.tar.gz", &DeclareDebug};

}  // namespace vicinity::cli

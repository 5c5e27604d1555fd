// `vicinity verify`: is a dataset directory still what was imported?
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareVerify(CLI::App* app);

inline constexpr Command kVerifyCommand = {
    "verify", "check every byte, list and row of a dataset against its manifest",
    "vicinity verify cora/shards", &DeclareVerify};

}  // namespace vicinity::cli

// `vicinity describe`: what a dataset holds, served or on disk.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareDescribe(CLI::App* app);

inline constexpr Command kDescribeCommand = {
    "describe", "show types, columns, shards and rankings of a dataset",
    "vicinity describe --cluster cluster.textproto\nvicinity describe --data wordnet/shards",
    &DeclareDescribe};

}  // namespace vicinity::cli

// `vicinity partition`: cut a dataset into shards.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclarePartition(CLI::App* app);

inline constexpr Command kPartitionCommand = {
    "partition", "cut a dataset into shards, likeliest rows first, and tell how good the cut is",
    "vicinity partition --input cora --output shards --shards 4\n"
    "vicinity partition --input cora --output shards --shards 4 --homes 0,1/2,3 --fanouts 20,10",
    &DeclarePartition};

}  // namespace vicinity::cli

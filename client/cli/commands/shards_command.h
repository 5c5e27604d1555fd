// `vicinity shards`: which servers hold each shard, and which of them can be used.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareShards(CLI::App* app);

inline constexpr Command kShardsCommand = {
    "shards", "show each shard's replicas, which can be used and how busy they are",
    "vicinity shards --cluster cluster.textproto", &DeclareShards};

}  // namespace vicinity::cli

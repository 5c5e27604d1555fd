// `vicinity rank`: another VIP ranking for a dataset that is already cut.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareRank(CLI::App* app);

inline constexpr Command kRankCommand = {
    "rank", "store which rows trainers will need most, for given seeds, fanouts and homes",
    "vicinity rank shards --fanouts 20,10 --batch-size 512 --homes 0,1/2,3", &DeclareRank};

}  // namespace vicinity::cli

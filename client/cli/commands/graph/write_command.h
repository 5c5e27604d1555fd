// `vicinity write`: rows of a file into a live graph.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareWrite(CLI::App* app);

inline constexpr Command kWriteCommand = {
    "write", "write nodes, edges and values of a file to a live graph",
    "vicinity write --cluster cluster.textproto --nodes paper papers.csv\n"
    "vicinity write --cluster cluster.textproto --edges cites --action remove withdrawn.tsv\n"
    "vicinity write --cluster cluster.textproto --edges buys buys.npz",
    &DeclareWrite};

}  // namespace vicinity::cli

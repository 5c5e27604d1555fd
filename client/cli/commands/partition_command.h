// `vicinity partition`: cut a dataset into shards.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/commands/command.h"
#include "client/cli/output/output.h"
#include "client/planning/graph_cut.h"

namespace vicinity::cli {

struct PartitionFlags {
  std::string input;  // the dataset to cut
  CutRequest request;
  std::string assigner = "metis";
  std::vector<std::string> assignment;
  std::vector<double> tolerance = {1.05};
  std::string time_limit = "6h";
  int32_t seed = 1;
  std::string memory;
  std::string scratch;
  OutputFormat format = OutputFormat::kTable;
};

// Declares how it is cut and ranked: all flags but for what is cut, into how many shards, where
// they go and how that is told.
void AddCutFlags(CLI::App* app, PartitionFlags* flags);
// Cuts, and says how good the cut is. AlreadyExists if the output is there; else errors as
// CutGraph's.
absl::Status RunPartition(const PartitionFlags& flags, const ToolContext& tool, std::ostream& out);

Action DeclarePartition(CLI::App* app);

inline constexpr Command kPartitionCommand = {
    "partition", "cut a dataset into shards, likeliest rows first, and tell how good the cut is",
    "vicinity partition --input cora --output shards --shards 4\n"
    "vicinity partition --input cora --output shards --shards 4 --homes 0,1/2,3 --fanouts 20,10",
    &DeclarePartition};

}  // namespace vicinity::cli

// Would a server of a cluster file start on this machine, and stay?
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cli/commands/operate/finding.h"
#include "proto/cluster/cluster_file.h"

namespace vicinity::cli {

// Its dataset's files are there and of the right size, the disks have room, its addresses are this
// machine's and free, its certificate is good for a while, its access file reads. Changes nothing:
// addresses are bound for a moment.
std::vector<Finding> CheckServer(const ClusterFile& cluster, const ClusterServer& server,
                                 absl::Time now);

// Of a dataset alone: its manifest and the files of `shards` (empty: of those that are there).
std::vector<Finding> CheckDataset(const std::string& directory, const std::vector<ShardId>& shards);

// Does this machine know the hosts of all servers of the file?
std::vector<Finding> CheckNames(const ClusterFile& cluster);

}  // namespace vicinity::cli

// Questions to the admin addresses of servers that are otherwise asked at those for data.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/flags/servers_flags.h"
#include "proto/admin.pb.h"

namespace vicinity::cli {

// For each of `targets`, which TargetsOf(flags) gave, where the same server's admin RPCs are. An
// address is empty where the cluster file has none, and everywhere without a cluster file. Errors
// as ReadClusterFile.
absl::StatusOr<std::vector<ServerTarget>> AdminTargetsBeside(
    const ServersFlags& flags, const std::vector<ServerTarget>& targets);

// Each waits no longer than `timeout`; errors as in server_probe.h, and FailedPrecondition for a
// target without an address.
absl::StatusOr<proto::ConfigReply> AskConfig(const ServerTarget& admin, absl::Duration timeout);
absl::StatusOr<proto::LogsReply> AskLogs(const ServerTarget& admin, absl::Duration timeout,
                                         const proto::LogsRequest& request);

}  // namespace vicinity::cli

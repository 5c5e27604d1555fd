#include "client/cli/flags/admin_probe.h"

#include <cstddef>

#include "absl/status/status.h"
#include "client/cli/flags/server_call.h"
#include "proto/admin.grpc.pb.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using proto::Admin;

absl::Status CheckAddress(const ServerTarget& admin) {
  if (!admin.address.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "no admin address of it is known: `admin` in a cluster file");
}

}  // namespace

absl::StatusOr<std::vector<ServerTarget>> AdminTargetsBeside(
    const ServersFlags& flags, const std::vector<ServerTarget>& targets) {
  std::vector<ServerTarget> admins = targets;
  for (ServerTarget& admin : admins) admin.address.clear();
  VICINITY_ASSIGN_OR_RETURN(const ServersFlags chosen, WithCluster(flags));
  if (chosen.cluster.empty()) return admins;
  VICINITY_ASSIGN_OR_RETURN(const ClusterFile file, ReadClusterFile(chosen.cluster));
  for (ServerTarget& admin : admins) {
    const ClusterServer* const server = file.FindServer(admin.name);
    if (server != nullptr) admin.address = server->admin;
  }
  return admins;
}

absl::StatusOr<proto::ConfigReply> AskConfig(const ServerTarget& admin, absl::Duration timeout) {
  VICINITY_RETURN_IF_ERROR(CheckAddress(admin));
  return CallServer<Admin>(admin, timeout, &Admin::Stub::Config, proto::ConfigRequest());
}

absl::StatusOr<proto::LogsReply> AskLogs(const ServerTarget& admin, absl::Duration timeout,
                                         const proto::LogsRequest& request) {
  VICINITY_RETURN_IF_ERROR(CheckAddress(admin));
  return CallServer<Admin>(admin, timeout, &Admin::Stub::Logs, request);
}

}  // namespace vicinity::cli

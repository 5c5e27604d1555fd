#include "client/cli/servers_flags.h"

#include <CLI/CLI.hpp>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/exit_code.h"
#include "partition/cluster_file.h"
#include "proto/common/status.h"

namespace vicinity::cli {

void AddServersFlags(CLI::App* app, ServersFlags* flags) {
  auto* cluster = app->add_option("--cluster", flags->cluster, "the cluster file: all its servers");
  app->add_option("--server", flags->addresses, "instead: the address of a server, as host:port")
      ->delimiter(',')
      ->excludes(cluster);
  app->add_option("--timeout", flags->timeout_seconds, "seconds to wait for a server")
      ->capture_default_str();
  AddFormatFlag(app, &flags->format);
}

absl::StatusOr<std::vector<ServerTarget>> TargetsOf(const ServersFlags& flags) {
  if (!(flags.timeout_seconds > 0 && flags.timeout_seconds <= 3600)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--timeout is ", flags.timeout_seconds, ", should be from 0 to 3600 seconds"));
  }
  std::vector<ServerTarget> targets;
  if (!flags.addresses.empty()) {
    for (const std::string& address : flags.addresses) {
      VICINITY_ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
      targets.push_back({parsed.ToString(), parsed.ToString()});
    }
    return targets;
  }
  if (flags.cluster.empty()) {
    return absl::InvalidArgumentError("one of --cluster and --server is needed");
  }
  VICINITY_ASSIGN_OR_RETURN(const ClusterFile file, ReadClusterFile(flags.cluster));
  for (const ClusterServer& server : file.servers) {
    if (server.advertise.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          flags.cluster, ": server \"", server.name,
          "\" listens on a port of the system's choice; ask it with --server ADDRESS"));
    }
    targets.push_back({server.name, server.advertise});
  }
  return targets;
}

absl::Status OutcomeOf(const std::vector<ServerTarget>& targets,
                       const std::vector<absl::Status>& answers) {
  std::vector<std::string> missing;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (answers[i].ok()) continue;
    missing.push_back(
        absl::StrCat(targets[i].name, " (", targets[i].address, "): ", answers[i].message()));
  }
  if (missing.empty()) return absl::OkStatus();
  return WithExitCode(
      absl::UnavailableError(
          absl::StrCat(missing.size(), " of ", targets.size(),
                       " servers gave no answer: ", absl::StrJoin(missing, "; "))),
      missing.size() == targets.size() ? ExitCode::kNotConnected : ExitCode::kDegraded);
}

}  // namespace vicinity::cli

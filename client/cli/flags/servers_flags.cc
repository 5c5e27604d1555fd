#include "client/cli/flags/servers_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cli/flags/contexts.h"
#include "client/cli/flags/credential_flags.h"
#include "client/cli/output/exit_code.h"
#include "proto/cluster/cluster_file.h"
#include "proto/command_line/nearest_word.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

absl::Status CheckTimeout(const ServersFlags& flags) {
  if (!(flags.timeout_seconds > 0 && flags.timeout_seconds <= 3600)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--timeout is ", flags.timeout_seconds, ", should be from 0 to 3600 seconds"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ServerTarget>> NamedTargets(const ServersFlags& flags) {
  std::vector<ServerTarget> targets;
  for (const std::string& address : flags.addresses) {
    VICINITY_ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
    targets.push_back({parsed.ToString(), parsed.ToString()});
  }
  return targets;
}

absl::StatusOr<std::vector<ServerTarget>> DataTargets(const ClusterFile& file) {
  std::vector<ServerTarget> targets;
  for (const ClusterServer& server : file.servers) {
    if (server.advertise.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          file.path, ": server \"", server.name,
          "\" listens on a port of the system's choice; ask it with --server ADDRESS"));
    }
    targets.push_back({server.name, server.advertise});
  }
  return targets;
}

absl::StatusOr<std::vector<ServerTarget>> AdminTargets(const ClusterFile& file) {
  std::vector<ServerTarget> targets;
  for (const ClusterServer& server : file.servers) {
    if (!server.admin.empty()) targets.push_back({server.name, server.admin});
  }
  if (!targets.empty()) return targets;
  return absl::FailedPreconditionError(
      absl::StrCat(file.path, ": no server has an `admin` address"));
}

absl::StatusOr<std::vector<ServerTarget>> TargetsBy(
    const ServersFlags& given,
    absl::StatusOr<std::vector<ServerTarget>> (*of_file)(const ClusterFile&)) {
  VICINITY_RETURN_IF_ERROR(CheckTimeout(given));
  VICINITY_ASSIGN_OR_RETURN(const ServersFlags flags, WithCluster(given));
  if (flags.addresses.empty() && flags.cluster.empty()) {
    return absl::InvalidArgumentError(
        "which servers? One of --cluster, --context and --server is needed, or VICINITY_CLUSTER in "
        "the environment, or a context in use (`vicinity context`)");
  }
  std::optional<ClusterFile> file;
  if (!flags.cluster.empty()) {
    VICINITY_ASSIGN_OR_RETURN(file, ReadClusterFile(flags.cluster));
  }
  VICINITY_ASSIGN_OR_RETURN(std::vector<ServerTarget> targets,
                            file.has_value() ? of_file(*file) : NamedTargets(flags));
  VICINITY_ASSIGN_OR_RETURN(
      const std::shared_ptr<const ClientCredentials> credentials,
      ClientCredentials::Load(flags.credentials, file.has_value() ? &*file : nullptr));
  for (ServerTarget& target : targets) target.credentials = credentials;
  return targets;
}

}  // namespace

void AddServersFlags(CLI::App* app, ServersFlags* flags) {
  auto* cluster = app->add_option("--cluster", flags->cluster, "the cluster file: all its servers");
  cluster->type_name("FILE");
  auto* context = app->add_option("--context", flags->context, "instead: that of a context")
                      ->type_name("NAME")
                      ->excludes(cluster);
  app->add_option("--server", flags->addresses, "instead: the address of a server, as host:port")
      ->delimiter(',')
      ->type_name("HOST:PORT,...")
      ->excludes(cluster)
      ->excludes(context);
  app->add_option("--timeout", flags->timeout_seconds, "seconds to wait for a server")
      ->capture_default_str();
  AddFormatFlag(app, &flags->format);
  AddCredentialFlags(app, &flags->credentials);
}

absl::StatusOr<ServersFlags> WithCluster(ServersFlags flags) {
  if (!flags.addresses.empty()) return flags;
  VICINITY_ASSIGN_OR_RETURN(ChosenCluster chosen,
                            ChooseCluster(flags.cluster, flags.context, flags.credentials));
  flags.cluster = std::move(chosen.file);
  flags.credentials = std::move(chosen.credentials);
  return flags;
}

absl::StatusOr<std::vector<ServerTarget>> TargetsOf(const ServersFlags& flags) {
  return TargetsBy(flags, &DataTargets);
}

absl::StatusOr<std::vector<ServerTarget>> AdminTargetsOf(const ServersFlags& flags) {
  return TargetsBy(flags, &AdminTargets);
}

absl::StatusOr<std::vector<ServerTarget>> ChooseTargets(std::vector<ServerTarget> targets,
                                                        const std::vector<std::string>& names) {
  if (names.empty()) return targets;
  std::vector<std::string> known;
  for (const ServerTarget& target : targets) known.push_back(target.name);
  std::vector<ServerTarget> chosen;
  for (const std::string& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      return absl::NotFoundError(absl::StrCat("no server \"", name, "\" among ",
                                              absl::StrJoin(known, ", "), DidYouMean(name, known)));
    }
    chosen.push_back(targets[static_cast<size_t>(found - known.begin())]);
  }
  return chosen;
}

const char* AbsenceOf(const absl::Status& error) {
  if (absl::IsUnauthenticated(error) || absl::IsPermissionDenied(error)) return "refused";
  return absl::IsUnavailable(error) || absl::IsDeadlineExceeded(error) ? "no answer" : "failed";
}

absl::Status OutcomeOf(const std::vector<ServerTarget>& targets,
                       const std::vector<absl::Status>& answers) {
  std::vector<std::string> missing;
  size_t denied = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (answers[i].ok()) continue;
    if (AbsenceOf(answers[i]) == absl::string_view("refused")) ++denied;
    missing.push_back(
        absl::StrCat(targets[i].name, " (", targets[i].address, "): ", answers[i].message()));
  }
  if (missing.empty()) return absl::OkStatus();
  const char* const what =
      denied == missing.size() ? " servers refused: " : " servers gave no answer: ";
  const ExitCode code = missing.size() < targets.size() ? ExitCode::kDegraded
                        : denied == targets.size()      ? ExitCode::kDenied
                                                        : ExitCode::kNotConnected;
  return WithExitCode(absl::UnavailableError(absl::StrCat(missing.size(), " of ", targets.size(),
                                                          what, absl::StrJoin(missing, "; "))),
                      code);
}

}  // namespace vicinity::cli

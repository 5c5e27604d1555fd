#include "client/cli/commands/live/rebuild_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/flags/server_files.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "partition/dataset/manifest.h"
#include "partition/writing/repair.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/file.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"
#include "proto/service.pb.h"

namespace vicinity::cli {
namespace {

struct Flags {
  ServersFlags servers;
  std::string name;
};

std::vector<ServerTarget> Others(std::vector<ServerTarget> targets, const std::string& name) {
  targets.erase(std::remove_if(targets.begin(), targets.end(),
                               [&name](const ServerTarget& target) { return target.name == name; }),
                targets.end());
  return targets;
}

// Of the servers that answer, which have one dataset. FailedPrecondition: they do not, or the one
// that is to be rebuilt is among them.
absl::StatusOr<uint64_t> AskFingerprint(const Flags& flags) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets, TargetsOf(flags.servers));
  const auto answers = AskAll(targets, flags.servers.timeout(), AskStatus);
  std::optional<uint64_t> fingerprint;
  std::vector<std::string> silent;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!answers[i].ok()) {
      silent.push_back(
          absl::StrCat(targets[i].name, ": ", std::string(answers[i].status().message())));
      continue;
    }
    if (targets[i].name == flags.name) {
      return absl::FailedPreconditionError(
          absl::StrCat("server \"", flags.name,
                       "\" runs: stop it first, or mend what it serves by "
                       "`vicinity repair`"));
    }
    if (fingerprint.value_or(answers[i]->fingerprint()) != answers[i]->fingerprint()) {
      return absl::FailedPreconditionError(
          "the servers have different datasets: see `vicinity shards`");
    }
    fingerprint = answers[i]->fingerprint();
  }
  if (fingerprint.has_value()) return *fingerprint;
  return absl::UnavailableError(
      absl::StrCat("no other server answers: ", absl::StrJoin(silent, "; ")));
}

// The dataset's, from there or from the servers.
absl::Status MakeManifest(const std::string& directory, uint64_t fingerprint,
                          const ServerFiles& files) {
  absl::StatusOr<proto::Manifest> manifest = ReadManifestToRepair(directory);
  if (absl::IsNotFound(manifest.status())) {
    VICINITY_ASSIGN_OR_RETURN(const std::string text, files.ReadManifestText());
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) return absl::FailedPreconditionError(directory + ": " + error.message());
    VICINITY_RETURN_IF_ERROR(WriteFileAtomically(ManifestPath(directory), text));
    manifest = ReadManifestToRepair(directory);
  }
  VICINITY_RETURN_IF_ERROR(manifest.status());
  if (manifest->fingerprint() == fingerprint) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(directory, " has another dataset than the servers: move it away"));
}

absl::Status RunRebuild(Flags flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(flags.servers, WithCluster(std::move(flags.servers)));
  if (flags.servers.cluster.empty()) {
    return absl::InvalidArgumentError(
        "--cluster is needed: it says what the server has, and where");
  }
  VICINITY_ASSIGN_OR_RETURN(const ClusterFile cluster, ReadClusterFile(flags.servers.cluster));
  const ClusterServer* const server = cluster.FindServer(flags.name);
  if (server == nullptr) {
    return absl::NotFoundError(absl::StrCat(cluster.path, ": no server \"", flags.name, "\""));
  }
  VICINITY_ASSIGN_OR_RETURN(std::vector<ServerTarget> admins, AdminTargetsOf(flags.servers));
  VICINITY_ASSIGN_OR_RETURN(const uint64_t fingerprint, AskFingerprint(flags));
  ServerFiles files(Others(std::move(admins), flags.name), fingerprint, flags.servers.timeout());
  VICINITY_RETURN_IF_ERROR(MakeManifest(cluster.data, fingerprint, files));
  RepairOptions options;
  options.shards = server->shards;
  options.wait.told = [&tool](const std::string& text) { *tool.narration << text << std::endl; };
  VICINITY_ASSIGN_OR_RETURN(const RepairReport report,
                            RepairDataset(cluster.data, options, &files, tool.progress));
  const auto fetched = static_cast<int64_t>(report.damaged.size());
  if (flags.servers.format == OutputFormat::kJson) {
    PrintJson({{"directory", cluster.data},
               {"num_files", report.num_files},
               {"num_bytes", report.num_bytes},
               {"fetched", fetched}},
              out);
    return absl::OkStatus();
  }
  out << cluster.data << ": " << HumanCount(report.num_files) << " files of "
      << server->shards.size() << " shards, " << HumanBytes(report.num_bytes) << ", "
      << HumanCount(fetched) << " fetched\n";
  *tool.narration << "Next: start server \"" << flags.name << "\""
                  << (server->changes.empty()
                          ? ""
                          : "; what was written to its shards it gets from the servers that write")
                  << ".\n";
  return absl::OkStatus();
}

}  // namespace

Action DeclareRebuild(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("--name", flags->name, "which server of the cluster file, on this machine")
      ->required();
  AddServersFlags(app, &flags->servers);
  return
      [flags](const ToolContext& tool, std::ostream& out) { return RunRebuild(*flags, tool, out); };
}

}  // namespace vicinity::cli

#include "client/cli/commands/repair_command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/flags/server_files.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/flags/shards_flag.h"
#include "client/cli/output/confirmation.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "partition/writing/repair.h"
#include "proto/common/human_text.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  std::string directory;
  std::string from;
  std::vector<int32_t> shards;
  bool dry_run = false;
  bool yes = false;
  ServersFlags servers;
};

absl::StatusOr<std::unique_ptr<FileSource>> OpenSource(Flags flags) {
  if (flags.from.empty()) {
    VICINITY_ASSIGN_OR_RETURN(flags.servers, WithCluster(std::move(flags.servers)));
  }
  const bool from_servers = !flags.servers.cluster.empty() || !flags.servers.context.empty() ||
                            !flags.servers.addresses.empty();
  if (from_servers == !flags.from.empty()) {
    return absl::InvalidArgumentError(
        "say where sound files are: --from DIR, --cluster FILE or --server ADDRESS");
  }
  if (!from_servers) return std::make_unique<DirectorySource>(flags.from);
  VICINITY_ASSIGN_OR_RETURN(std::vector<ServerTarget> targets, AdminTargetsOf(flags.servers));
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifestToRepair(flags.directory));
  return std::make_unique<ServerFiles>(std::move(targets), manifest.fingerprint(),
                                       flags.servers.timeout());
}

void Print(const Flags& flags, const RepairReport& report, std::ostream& out) {
  if (flags.servers.format == OutputFormat::kJson) {
    nlohmann::ordered_json damaged = nlohmann::ordered_json::array();
    for (const RepairReport::File& file : report.damaged) {
      damaged.push_back({{"path", file.path}, {"fault", file.fault}});
    }
    PrintJson({{"directory", flags.directory},
               {"num_files", report.num_files},
               {"num_bytes", report.num_bytes},
               {"repaired", !flags.dry_run},
               {"damaged", damaged}},
              out);
    return;
  }
  for (const RepairReport::File& file : report.damaged) {
    out << (flags.dry_run ? "damaged: " : "repaired: ") << file.path << " (" << file.fault << ")\n";
  }
  out << HumanCount(report.num_files) << " files read, "
      << HumanCount(static_cast<int64_t>(report.damaged.size()))
      << (flags.dry_run ? " damaged\n" : " repaired\n");
}

absl::Status RunRepair(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<FileSource> source, OpenSource(flags));
  if (!flags.dry_run) {
    VICINITY_RETURN_IF_ERROR(
        Confirmed(flags.yes, tool.ask, IfNobody::kGoOn,
                  absl::StrCat("Replace what is damaged in ", flags.directory, "?")));
  }
  RepairOptions options;
  for (const int32_t shard : flags.shards) options.shards.push_back(ShardId{shard});
  options.dry_run = flags.dry_run;
  options.wait.told = [&tool](const std::string& text) { *tool.narration << text << std::endl; };
  VICINITY_ASSIGN_OR_RETURN(const RepairReport report,
                            RepairDataset(flags.directory, options, source.get(), tool.progress));
  Print(flags, report, out);
  if (!flags.dry_run || report.damaged.empty()) return absl::OkStatus();
  return WithExitCode(
      absl::DataLossError(report.damaged.size() == 1
                              ? "1 file is damaged"
                              : absl::StrCat(report.damaged.size(), " files are damaged")),
      ExitCode::kBadData);
}

}  // namespace

Action DeclareRepair(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("DIRECTORY", flags->directory, "the dataset to repair")->required();
  app->add_option("--from", flags->from, "another directory with the same dataset");
  AddShardsFlag(app, &flags->shards, "of these alone; else of those that are there");
  app->add_flag("--dry-run", flags->dry_run, "only say what is damaged");
  app->add_flag("--yes", flags->yes, "do not ask, on a terminal");
  AddServersFlags(app, &flags->servers);
  return
      [flags](const ToolContext& tool, std::ostream& out) { return RunRepair(*flags, tool, out); };
}

}  // namespace vicinity::cli

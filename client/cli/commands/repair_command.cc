#include "client/cli/commands/repair_command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/flags/server_call.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "partition/writing/repair.h"
#include "proto/admin.grpc.pb.h"
#include "proto/common/human_text.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using proto::Admin;

struct Flags {
  std::string directory;
  std::string from;
  std::vector<int32_t> shards;
  bool dry_run = false;
  ServersFlags servers;
};

// Files from whichever of some servers has a sound one, by their admin addresses.
class ServerSource final : public FileSource {
 public:
  ServerSource(std::vector<ServerTarget> targets, uint64_t fingerprint, absl::Duration timeout)
      : targets_(std::move(targets)), fingerprint_(fingerprint), timeout_(timeout) {}

  absl::Status Read(const proto::FileEntry& file, const Take& take) override {
    std::string tried;
    for (const ServerTarget& target : targets_) {
      uint64_t taken = 0;
      const absl::Status status = ReadFrom(target, file, take, &taken);
      // What has been taken cannot be given back.
      if (status.ok() || taken > 0) return At(target.name, status);
      absl::StrAppend(&tried, tried.empty() ? "" : "; ", target.name, ": ",
                      std::string(status.message()));
    }
    return absl::UnavailableError(absl::StrCat(file.path(), ": no server has it: ", tried));
  }

 private:
  absl::Status ReadFrom(const ServerTarget& target, const proto::FileEntry& file, const Take& take,
                        uint64_t* taken) const {
    proto::ReadFileRequest request;
    request.set_fingerprint(fingerprint_);
    request.set_path(file.path());
    while (*taken < file.size()) {
      request.set_offset(*taken);
      VICINITY_ASSIGN_OR_RETURN(
          const proto::ReadFileReply reply,
          CallServer<Admin>(target, timeout_, &Admin::Stub::ReadFile, request));
      if (reply.data().empty()) {
        return absl::DataLossError(absl::StrCat(file.path(), " ends at byte ", *taken));
      }
      VICINITY_RETURN_IF_ERROR(take(reply.data()));
      *taken += reply.data().size();
    }
    return absl::OkStatus();
  }

  const std::vector<ServerTarget> targets_;
  const uint64_t fingerprint_;
  const absl::Duration timeout_;
};

absl::StatusOr<std::unique_ptr<FileSource>> OpenSource(const Flags& flags) {
  const bool from_servers = !flags.servers.cluster.empty() || !flags.servers.addresses.empty();
  if (from_servers == !flags.from.empty()) {
    return absl::InvalidArgumentError(
        "say where sound files are: --from DIR, --cluster FILE or --server ADDRESS");
  }
  if (!from_servers) return std::make_unique<DirectorySource>(flags.from);
  VICINITY_ASSIGN_OR_RETURN(std::vector<ServerTarget> targets, AdminTargetsOf(flags.servers));
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifestToRepair(flags.directory));
  return std::make_unique<ServerSource>(std::move(targets), manifest.fingerprint(),
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
  RepairOptions options;
  for (const int32_t shard : flags.shards) options.shards.push_back(ShardId{shard});
  options.dry_run = flags.dry_run;
  options.wait.told = [&tool](const std::string& text) { *tool.narration << text << std::endl; };
  VICINITY_ASSIGN_OR_RETURN(const RepairReport report,
                            RepairDataset(flags.directory, options, source.get(), tool.progress));
  Print(flags, report, out);
  if (!flags.dry_run || report.damaged.empty()) return absl::OkStatus();
  return WithExitCode(
      absl::DataLossError(absl::StrCat(report.damaged.size(), " files are damaged")),
      ExitCode::kBadData);
}

}  // namespace

Action DeclareRepair(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("DIRECTORY", flags->directory, "the dataset to repair")->required();
  app->add_option("--from", flags->from, "another directory with the same dataset");
  app->add_option("--shards", flags->shards, "of these alone; else of those that are there")
      ->delimiter(',');
  app->add_flag("--dry-run", flags->dry_run, "only say what is damaged");
  AddServersFlags(app, &flags->servers);
  return
      [flags](const ToolContext& tool, std::ostream& out) { return RunRepair(*flags, tool, out); };
}

}  // namespace vicinity::cli

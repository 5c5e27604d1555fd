#include "client/cli/commands/operate/doctor_command.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/commands/operate/finding.h"
#include "client/cli/commands/operate/machine_checks.h"
#include "client/cli/commands/operate/server_checks.h"
#include "client/cli/flags/contexts.h"
#include "client/cli/flags/shards_flag.h"
#include "client/cli/output/output.h"
#include "proto/cluster/cluster_file.h"
#include "proto/command_line/nearest_word.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  std::string cluster;
  std::string context;
  std::string name;
  std::string data;
  std::vector<int32_t> shards;
  OutputFormat format = OutputFormat::kTable;
};

void Append(std::vector<Finding> more, std::vector<Finding>* findings) {
  findings->insert(findings->end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
}

absl::StatusOr<const ClusterServer*> ServerOf(const ClusterFile& cluster, const std::string& name) {
  std::vector<std::string> names;
  for (const ClusterServer& server : cluster.servers) names.push_back(server.name);
  const ClusterServer* const server = cluster.FindServer(name);
  if (server != nullptr) return server;
  return absl::NotFoundError(
      absl::StrCat(cluster.path, ": no server \"", name, "\"", DidYouMean(name, names)));
}

absl::Status CheckCluster(const Flags& flags, std::vector<Finding>* findings) {
  VICINITY_ASSIGN_OR_RETURN(const ChosenCluster chosen,
                            ChooseCluster(flags.cluster, flags.context, {}));
  if (chosen.file.empty()) {
    if (flags.name.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("--name is of a server of --cluster, which is missing");
  }
  VICINITY_ASSIGN_OR_RETURN(const ClusterFile cluster, ReadClusterFile(chosen.file));
  Append(CheckNames(cluster), findings);
  if (flags.name.empty()) return absl::OkStatus();
  VICINITY_ASSIGN_OR_RETURN(const ClusterServer* const server, ServerOf(cluster, flags.name));
  Append(CheckServer(cluster, *server, absl::Now()), findings);
  return absl::OkStatus();
}

const char* Word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGood:
      return "good";
    case Verdict::kWarning:
      return "warning";
    case Verdict::kFault:
      return "FAULT";
  }
  return "";
}

void Print(const std::vector<Finding>& findings, OutputFormat format, std::ostream& out) {
  Table table({{"LOOKED AT"}, {"VERDICT"}, {"FOUND"}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    table.AddRow({finding.what, Word(finding.verdict), finding.found});
    list.push_back(
        {{"what", finding.what},
         {"verdict", finding.verdict == Verdict::kFault ? "fault" : Word(finding.verdict)},
         {"found", finding.found},
         {"remedy", finding.remedy}});
  }
  if (format == OutputFormat::kJson) return PrintJson({{"findings", list}}, out);
  table.Print(out);
  for (const Finding& finding : findings) {
    if (!finding.remedy.empty()) out << finding.what << ": " << finding.remedy << '\n';
  }
}

absl::Status RunDoctor(const Flags& flags, std::ostream& out) {
  std::vector<Finding> findings = CheckMachine();
  if (!flags.data.empty()) {
    std::vector<ShardId> shards;
    for (const int32_t shard : flags.shards) shards.push_back(ShardId{shard});
    Append(CheckDataset(flags.data, shards), &findings);
  } else {
    VICINITY_RETURN_IF_ERROR(CheckCluster(flags, &findings));
  }
  Print(findings, flags.format, out);
  size_t faults = 0;
  for (const Finding& finding : findings) faults += finding.verdict == Verdict::kFault ? 1 : 0;
  if (faults == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(faults, " faults: a server would not run"));
}

}  // namespace

Action DeclareDoctor(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  auto* cluster = app->add_option("--cluster", flags->cluster, "the cluster file: names of hosts")
                      ->type_name("FILE");
  auto* context = app->add_option("--context", flags->context, "instead: that of a context")
                      ->type_name("NAME")
                      ->excludes(cluster);
  app->add_option("--name", flags->name, "its server that is to run here: files, disks, ports")
      ->type_name("NAME");
  auto* data = app->add_option("--data", flags->data, "instead: a dataset directory")
                   ->type_name("DIR")
                   ->excludes(cluster)
                   ->excludes(context);
  AddShardsFlag(app, &flags->shards, "of --data; else those that are there")->needs(data);
  AddFormatFlag(app, &flags->format);
  return [flags](const ToolContext&, std::ostream& out) { return RunDoctor(*flags, out); };
}

}  // namespace vicinity::cli

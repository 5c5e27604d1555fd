#include "client/cli/commands/operate/config_command.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/cli/commands/operate/running_config.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Answers = std::vector<absl::StatusOr<proto::StatusReply>>;

absl::Status Outcome(const std::vector<ServerTarget>& targets, const Answers& answers) {
  std::vector<absl::Status> statuses;
  for (const auto& answer : answers) statuses.push_back(answer.status());
  return OutcomeOf(targets, statuses);
}

absl::Status RunGet(const ServersFlags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets, TargetsOf(flags));
  const Answers answers = AskAll(targets, flags.timeout(), AskStatus);
  Table table({{"SERVER"}, {"SETTING"}, {"VALUE"}});
  nlohmann::ordered_json servers = nlohmann::ordered_json::array();
  for (size_t i = 0; i < targets.size(); ++i) {
    nlohmann::ordered_json json = {{"name", targets[i].name}, {"answered", answers[i].ok()}};
    if (!answers[i].ok()) {
      json["error"] = std::string(answers[i].status().message());
      table.AddRow({targets[i].name, "no answer"});
    } else {
      for (const Setting& setting : SettingsOf(*answers[i])) {
        json["settings"][setting.name] = setting.value;
        table.AddRow({targets[i].name, setting.name, setting.value});
      }
    }
    servers.push_back(std::move(json));
  }
  if (flags.format == OutputFormat::kJson) {
    PrintJson({{"servers", servers}}, out);
  } else {
    table.Print(out);
  }
  return Outcome(targets, answers);
}

void Print(const std::vector<Difference>& differences, OutputFormat format, std::ostream& out) {
  Table table({{"SERVER"}, {"SETTING"}, {"RUNS WITH"}, {"SHOULD BE"}, {"SAYS"}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Difference& one : differences) {
    table.AddRow({one.server, one.setting, one.runs, one.should, one.why});
    list.push_back({{"server", one.server},
                    {"setting", one.setting},
                    {"runs", one.runs},
                    {"should", one.should},
                    {"says", one.why}});
  }
  if (format == OutputFormat::kJson) {
    PrintJson({{"differences", list}}, out);
  } else if (differences.empty()) {
    out << "no differences\n";
  } else {
    table.Print(out);
  }
}

absl::Status RunDiff(ServersFlags flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(flags, WithCluster(std::move(flags)));
  if (flags.cluster.empty()) {
    return absl::InvalidArgumentError("--cluster is needed: it says how servers should run");
  }
  VICINITY_ASSIGN_OR_RETURN(const ClusterFile file, ReadClusterFile(flags.cluster));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets, TargetsOf(flags));
  const Answers answers = AskAll(targets, flags.timeout(), AskStatus);
  const std::vector<Difference> differences = DifferencesOf(file, answers);
  Print(differences, flags.format, out);
  VICINITY_RETURN_IF_ERROR(Outcome(targets, answers));
  if (differences.empty()) return absl::OkStatus();
  return WithExitCode(
      absl::FailedPreconditionError(absl::StrCat(differences.size(), " differences")),
      ExitCode::kDegraded);
}

}  // namespace

Action DeclareConfig(CLI::App* app) {
  const auto flags = std::make_shared<ServersFlags>();
  const auto action = std::make_shared<Action>();
  app->require_subcommand(1);
  CLI::App* const get = app->add_subcommand("get", "what each server runs with");
  AddServersFlags(get, flags.get());
  get->callback([flags, action] {
    *action = [flags](const ToolContext&, std::ostream& out) { return RunGet(*flags, out); };
  });
  CLI::App* const diff =
      app->add_subcommand("diff", "where that is not what the cluster file or the others say");
  AddServersFlags(diff, flags.get());
  diff->callback([flags, action] {
    *action = [flags](const ToolContext&, std::ostream& out) { return RunDiff(*flags, out); };
  });
  return [action](const ToolContext& tool, std::ostream& out) { return (*action)(tool, out); };
}

}  // namespace vicinity::cli

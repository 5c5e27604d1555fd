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
#include "client/cli/flags/admin_probe.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  ServersFlags servers;
  std::vector<std::string> names;
  bool set_only = false;
};

struct Asked {
  std::vector<ServerTarget> targets;
  std::vector<ServerTarget> admins;
  std::vector<Running> answers;
};

absl::StatusOr<Asked> Ask(const ServersFlags& flags, const std::vector<std::string>& names = {}) {
  Asked asked;
  VICINITY_ASSIGN_OR_RETURN(std::vector<ServerTarget> all, TargetsOf(flags));
  VICINITY_ASSIGN_OR_RETURN(asked.targets, ChooseTargets(std::move(all), names));
  VICINITY_ASSIGN_OR_RETURN(asked.admins, AdminTargetsBeside(flags, asked.targets));
  auto status = AskAll(asked.targets, flags.timeout(), AskStatus);
  auto config = AskAll(asked.admins, flags.timeout(), AskConfig);
  for (size_t i = 0; i < asked.targets.size(); ++i) {
    asked.answers.push_back({std::move(status[i]), std::move(config[i])});
  }
  return asked;
}

// A server without an admin address has said all that it can.
absl::Status Outcome(const Asked& asked) {
  std::vector<absl::Status> statuses;
  for (size_t i = 0; i < asked.targets.size(); ++i) {
    const Running& answer = asked.answers[i];
    statuses.push_back(answer.status.ok() && !asked.admins[i].address.empty()
                           ? At("flags", answer.config.status())
                           : answer.status.status());
  }
  return OutcomeOf(asked.targets, statuses);
}

bool IsShown(const Setting& setting, const Flags& flags) {
  return !flags.set_only || setting.source != "default";
}

nlohmann::ordered_json JsonOf(const std::string& name, const Running& answer, const Flags& flags) {
  nlohmann::ordered_json json = {{"name", name}, {"answered", answer.status.ok()}};
  if (!answer.status.ok()) {
    json["error"] = std::string(answer.status.status().message());
    return json;
  }
  for (const Setting& setting : SettingsOf(answer)) {
    if (!IsShown(setting, flags)) continue;
    json["settings"][setting.name] = setting.value;
    json["sources"][setting.name] = setting.source;
  }
  if (!answer.config.ok()) json["flags_error"] = std::string(answer.config.status().message());
  return json;
}

void AddRows(const std::string& name, const Running& answer, const Flags& flags, Table* table) {
  if (!answer.status.ok()) {
    table->AddRow({name, AbsenceOf(answer.status.status())});
    return;
  }
  for (const Setting& setting : SettingsOf(answer)) {
    if (!IsShown(setting, flags)) continue;
    table->AddRow(
        {name, setting.name, setting.value.empty() ? "-" : setting.value, setting.source});
  }
  if (!answer.config.ok()) {
    table->AddRow({name, "flags", absl::StrCat("- (", answer.config.status().message(), ")")});
  }
}

absl::Status RunGet(const Flags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const Asked asked, Ask(flags.servers, flags.names));
  Table table({{"SERVER"}, {"SETTING"}, {"VALUE"}, {"FROM"}});
  nlohmann::ordered_json servers = nlohmann::ordered_json::array();
  for (size_t i = 0; i < asked.targets.size(); ++i) {
    servers.push_back(JsonOf(asked.targets[i].name, asked.answers[i], flags));
    AddRows(asked.targets[i].name, asked.answers[i], flags, &table);
  }
  if (flags.servers.format == OutputFormat::kJson) {
    PrintJson({{"servers", servers}}, out);
  } else {
    table.Print(out);
  }
  return Outcome(asked);
}

void Print(const std::vector<Difference>& differences, OutputFormat format, std::ostream& out) {
  const auto shown = [](const std::string& value) { return value.empty() ? "-" : value; };
  Table table({{"SERVER"}, {"SETTING"}, {"RUNS WITH"}, {"SHOULD BE"}, {"SAYS"}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Difference& one : differences) {
    table.AddRow({one.server, one.setting, shown(one.runs), shown(one.should), one.why});
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
  VICINITY_ASSIGN_OR_RETURN(const Asked asked, Ask(flags));
  const std::vector<Difference> differences = DifferencesOf(file, asked.answers);
  Print(differences, flags.format, out);
  VICINITY_RETURN_IF_ERROR(Outcome(asked));
  if (differences.empty()) return absl::OkStatus();
  return WithExitCode(
      absl::FailedPreconditionError(absl::StrCat(
          differences.size(), differences.size() == 1 ? " difference" : " differences")),
      ExitCode::kDegraded);
}

}  // namespace

Action DeclareConfig(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  const auto action = std::make_shared<Action>();
  app->require_subcommand(1);
  CLI::App* const get =
      app->add_subcommand("get", "every flag of each server: its value, and where that is from");
  get->add_flag("--set-only", flags->set_only, "without the flags that have their defaults");
  get->add_option("--name", flags->names, "of these servers of the cluster file (all)")
      ->delimiter(',')
      ->type_name("NAME,...");
  AddServersFlags(get, &flags->servers);
  get->callback([flags, action] {
    *action = [flags](const ToolContext&, std::ostream& out) { return RunGet(*flags, out); };
  });
  CLI::App* const diff =
      app->add_subcommand("diff", "where that is not what the cluster file or the others say");
  AddServersFlags(diff, &flags->servers);
  diff->callback([flags, action] {
    *action = [flags](const ToolContext&, std::ostream& out) {
      return RunDiff(flags->servers, out);
    };
  });
  return [action](const ToolContext& tool, std::ostream& out) { return (*action)(tool, out); };
}

}  // namespace vicinity::cli

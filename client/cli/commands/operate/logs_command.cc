#include "client/cli/commands/operate/logs_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/cli/flags/admin_probe.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/output.h"
#include "proto/admin.pb.h"
#include "proto/command_line/choices.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Answers = std::vector<absl::StatusOr<proto::LogsReply>>;

struct Flags {
  ServersFlags servers;
  std::vector<std::string> names;
  uint32_t last = 100;
  std::string level;
};

std::string TimeText(int64_t time_us) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%E3S", absl::FromUnixMicros(time_us),
                          absl::UTCTimeZone());
}

// Lines of all servers by time; those of one server stay in their order.
void PrintText(const std::vector<ServerTarget>& targets, const Answers& answers,
               std::ostream& out) {
  size_t width = 0;
  std::vector<std::pair<const std::string*, const proto::LogLine*>> lines;
  for (size_t i = 0; i < targets.size(); ++i) {
    width = std::max(width, targets[i].name.size());
    if (!answers[i].ok()) continue;
    for (const proto::LogLine& line : answers[i]->lines())
      lines.emplace_back(&targets[i].name, &line);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.second->time_us() < b.second->time_us();
  });
  for (const auto& [name, line] : lines) {
    out << absl::StreamFormat("%s %-*s %-7s %s\n", TimeText(line->time_us()),
                              static_cast<int>(width), *name, line->level(), line->text());
  }
}

void PrintAsJson(const std::vector<ServerTarget>& targets, const Answers& answers,
                 std::ostream& out) {
  nlohmann::ordered_json servers = nlohmann::ordered_json::array();
  for (size_t i = 0; i < targets.size(); ++i) {
    nlohmann::ordered_json json = {{"name", targets[i].name}, {"answered", answers[i].ok()}};
    if (!answers[i].ok()) {
      json["error"] = std::string(answers[i].status().message());
    } else {
      json["forgotten"] = answers[i]->forgotten();
      json["lines"] = nlohmann::ordered_json::array();
      for (const proto::LogLine& line : answers[i]->lines()) {
        json["lines"].push_back(
            {{"time_us", line.time_us()}, {"level", line.level()}, {"text", line.text()}});
      }
    }
    servers.push_back(std::move(json));
  }
  PrintJson({{"servers", servers}}, out);
}

absl::Status RunLogs(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(std::vector<ServerTarget> all, AdminTargetsOf(flags.servers));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets,
                            ChooseTargets(std::move(all), flags.names));
  proto::LogsRequest request;
  request.set_last(flags.last);
  request.set_level(flags.level);
  const Answers answers = AskAll(targets, flags.servers.timeout(),
                                 [&request](const ServerTarget& server, absl::Duration timeout) {
                                   return AskLogs(server, timeout, request);
                                 });
  std::vector<absl::Status> statuses;
  for (size_t i = 0; i < targets.size(); ++i) {
    statuses.push_back(answers[i].status());
    if (!answers[i].ok() || answers[i]->forgotten() == 0) continue;
    if (flags.last != 0 && answers[i]->lines_size() >= static_cast<int64_t>(flags.last)) continue;
    *tool.narration << targets[i].name << ": the first " << answers[i]->forgotten()
                    << " lines since its start are no longer in its memory\n";
  }
  if (flags.servers.format == OutputFormat::kJson) {
    PrintAsJson(targets, answers, out);
  } else {
    PrintText(targets, answers, out);
  }
  return OutcomeOf(targets, statuses);
}

}  // namespace

Action DeclareLogs(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("--name", flags->names, "of these servers of the cluster file (all)")
      ->delimiter(',')
      ->type_name("NAME,...");
  app->add_option("--last", flags->last, "lines of each server; 0: all that it remembers");
  app->add_option("--level", flags->level, "this level and above: debug, info, warning, error")
      ->check(OneOf({"debug", "info", "warning", "error"}));
  AddServersFlags(app, &flags->servers);
  return [flags](const ToolContext& tool, std::ostream& out) { return RunLogs(*flags, tool, out); };
}

}  // namespace vicinity::cli

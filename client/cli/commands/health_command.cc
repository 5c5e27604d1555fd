#include "client/cli/commands/health_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "proto/command_line/choices.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Answers = std::vector<absl::StatusOr<HealthAnswer>>;

struct Flags {
  ServersFlags servers;
  double wait_seconds = 0;
};

constexpr absl::Duration kBetweenLooks = absl::Milliseconds(500);

// Who does not serve, and why; empty: all do.
std::string Unwell(const std::vector<ServerTarget>& targets, const Answers& answers) {
  std::string unwell;
  for (size_t i = 0; i < targets.size(); ++i) {
    const std::string health =
        answers[i].ok() ? answers[i]->health : std::string(answers[i].status().message());
    if (health == "serving") continue;
    absl::StrAppend(&unwell, unwell.empty() ? "" : "; ", targets[i].name, " (", targets[i].address,
                    "): ", health);
  }
  return unwell;
}

// Asks until all serve, or the time is over. Who is waited for is told whenever that changes.
Answers AskUntilWell(const std::vector<ServerTarget>& targets, const Flags& flags,
                     std::ostream& narration) {
  const absl::Time end = absl::Now() + absl::Seconds(flags.wait_seconds);
  std::string told;
  while (true) {
    Answers answers = AskAll(targets, flags.servers.timeout(), AskHealth);
    const std::string unwell = Unwell(targets, answers);
    const absl::Duration left = end - absl::Now();
    if (unwell.empty() || left <= absl::ZeroDuration()) return answers;
    if (unwell != told) narration << "waiting for " << unwell << std::endl;
    told = unwell;
    absl::SleepFor(std::min(left, kBetweenLooks));
  }
}

void Print(const std::vector<ServerTarget>& targets, const Answers& answers, OutputFormat format,
           std::ostream& out) {
  const absl::Time now = absl::Now();
  Table table({{"SERVER"}, {"ADDRESS"}, {"HEALTH"}, {"CERTIFICATE", Table::Align::kRight}});
  nlohmann::ordered_json servers = nlohmann::ordered_json::array();
  std::string warnings;
  for (size_t i = 0; i < targets.size(); ++i) {
    const std::string health = answers[i].ok() ? answers[i]->health : "no answer";
    const absl::Time expires =
        answers[i].ok() ? answers[i]->certificate_expires : absl::InfiniteFuture();
    table.AddRow({targets[i].name, targets[i].address, health, HumanTimeLeft(expires, now)});
    nlohmann::ordered_json json = {
        {"name", targets[i].name}, {"address", targets[i].address}, {"health", health}};
    if (answers[i].ok()) {
      json["certificate_expires"] =
          expires == absl::InfiniteFuture() ? 0 : absl::ToUnixSeconds(expires);
    }
    if (!answers[i].ok()) json["error"] = std::string(answers[i].status().message());
    servers.push_back(std::move(json));
    absl::StrAppend(&warnings, ExpiryWarning(targets[i].name, expires, now));
  }
  if (format == OutputFormat::kJson) {
    PrintJson({{"healthy", Unwell(targets, answers).empty()}, {"servers", servers}}, out);
  } else {
    table.Print(out);
    out << warnings;
  }
}

absl::Status RunHealth(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets, TargetsOf(flags.servers));
  const Answers answers = AskUntilWell(targets, flags, *tool.narration);
  Print(targets, answers, flags.servers.format, out);
  const std::string unwell = Unwell(targets, answers);
  if (unwell.empty()) return absl::OkStatus();
  return WithExitCode(absl::UnavailableError(unwell), ExitCode::kDegraded);
}

}  // namespace

Action DeclareHealth(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  AddServersFlags(app, &flags->servers);
  app->add_option("--wait", flags->wait_seconds,
                  "seconds to wait until all serve; 0: say at once how it is")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->check(InRange(0.0, 86400.0));
  return
      [flags](const ToolContext& tool, std::ostream& out) { return RunHealth(*flags, tool, out); };
}

}  // namespace vicinity::cli

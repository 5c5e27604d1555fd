#include "client/cli/commands/health_command.h"

#include <CLI/CLI.hpp>
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
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

absl::Status RunHealth(const ServersFlags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets, TargetsOf(flags));
  const auto answers = AskAll(targets, flags.timeout(), AskHealth);
  const absl::Time now = absl::Now();
  Table table({{"SERVER"}, {"ADDRESS"}, {"HEALTH"}, {"CERTIFICATE", Table::Align::kRight}});
  nlohmann::ordered_json servers = nlohmann::ordered_json::array();
  std::string unwell;
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
    if (health == "serving") continue;
    absl::StrAppend(&unwell, unwell.empty() ? "" : "; ", targets[i].name, " (", targets[i].address,
                    "): ", answers[i].ok() ? health : std::string(answers[i].status().message()));
  }
  if (flags.format == OutputFormat::kJson) {
    PrintJson({{"healthy", unwell.empty()}, {"servers", servers}}, out);
  } else {
    table.Print(out);
    out << warnings;
  }
  if (unwell.empty()) return absl::OkStatus();
  return WithExitCode(absl::UnavailableError(unwell), ExitCode::kDegraded);
}

}  // namespace

Action DeclareHealth(CLI::App* app) {
  const auto flags = std::make_shared<ServersFlags>();
  AddServersFlags(app, flags.get());
  return [flags](const ToolContext&, std::ostream& out) { return RunHealth(*flags, out); };
}

}  // namespace vicinity::cli

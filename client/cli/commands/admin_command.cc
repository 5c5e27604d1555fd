#include "client/cli/commands/admin_command.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/cli/flags/server_call.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/confirmation.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "proto/admin.grpc.pb.h"
#include "proto/command_line/choices.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using proto::Admin;

// What a server did: a line for people, fields for scripts.
struct Done {
  std::string text;
  nlohmann::ordered_json json;
  std::string fault;  // empty: none
};
using Ask = std::function<absl::StatusOr<Done>(const ServerTarget&, absl::Duration)>;

struct AdminFlags {
  ServersFlags servers;
  std::vector<std::string> names;  // of the cluster file; empty: all
  std::string level;
  double mib_per_second = 0;
  bool yes = false;
  bool dry_run = false;
  bool stay = false;
};

absl::StatusOr<Done> Drain(bool stay, const ServerTarget& server, absl::Duration timeout) {
  proto::DrainRequest request;
  request.set_stay(stay);
  VICINITY_ASSIGN_OR_RETURN(const proto::DrainReply reply,
                            CallServer<Admin>(server, timeout, &Admin::Stub::Drain, request));
  return Done{stay ? "turns clients away" : "draining", {{"server", reply.server()}}, ""};
}

absl::StatusOr<Done> Undrain(const ServerTarget& server, absl::Duration timeout) {
  VICINITY_ASSIGN_OR_RETURN(
      const proto::UndrainReply reply,
      CallServer<Admin>(server, timeout, &Admin::Stub::Undrain, proto::UndrainRequest()));
  return Done{"takes clients again", {{"server", reply.server()}}, ""};
}

absl::StatusOr<Done> SetLogLevel(const std::string& level, const ServerTarget& server,
                                 absl::Duration timeout) {
  proto::SetLogLevelRequest request;
  request.set_level(level);
  VICINITY_ASSIGN_OR_RETURN(const proto::SetLogLevelReply reply,
                            CallServer<Admin>(server, timeout, &Admin::Stub::SetLogLevel, request));
  return Done{absl::StrCat(level, ", was ", reply.before()), {{"before", reply.before()}}, ""};
}

absl::StatusOr<Done> Verify(double mib_per_second, const ServerTarget& server,
                            absl::Duration timeout) {
  proto::VerifyRequest request;
  request.set_bytes_per_second(static_cast<uint64_t>(mib_per_second * (1 << 20)));
  VICINITY_ASSIGN_OR_RETURN(const proto::VerifyReply reply,
                            CallServer<Admin>(server, timeout, &Admin::Stub::Verify, request));
  Done done;
  done.fault = absl::StrJoin(reply.faults(), "; ");
  done.text =
      absl::StrCat(reply.files(), " files, ", HumanBytes(static_cast<int64_t>(reply.bytes())),
                   done.fault.empty() ? ": whole" : ": faulty");
  done.json = {{"files", reply.files()},
               {"bytes", reply.bytes()},
               {"faults", std::vector<std::string>(reply.faults().begin(), reply.faults().end())}};
  return done;
}

absl::StatusOr<Done> Reload(const ServerTarget& server, absl::Duration timeout) {
  VICINITY_ASSIGN_OR_RETURN(const proto::ReloadCredentialsReply reply,
                            CallServer<Admin>(server, timeout, &Admin::Stub::ReloadCredentials,
                                              proto::ReloadCredentialsRequest()));
  const std::string expires =
      reply.certificate_expires() == 0
          ? "no certificate"
          : absl::StrCat("certificate until ",
                         absl::FormatTime("%Y-%m-%d %H:%M UTC",
                                          absl::FromUnixSeconds(reply.certificate_expires()),
                                          absl::UTCTimeZone()));
  return Done{absl::StrCat(reply.grants(), " granted, ", expires),
              {{"grants", reply.grants()}, {"certificate_expires", reply.certificate_expires()}},
              ""};
}

void Print(const std::vector<ServerTarget>& targets,
           const std::vector<absl::StatusOr<Done>>& answers, OutputFormat format,
           std::ostream& out) {
  Table table({{"SERVER"}, {"ADDRESS"}, {"ANSWER"}});
  nlohmann::ordered_json servers = nlohmann::ordered_json::array();
  for (size_t i = 0; i < targets.size(); ++i) {
    const bool ok = answers[i].ok();
    table.AddRow({targets[i].name, targets[i].address,
                  ok ? answers[i]->text : AbsenceOf(answers[i].status())});
    nlohmann::ordered_json json = {
        {"name", targets[i].name}, {"address", targets[i].address}, {"answered", ok}};
    if (ok) {
      json.update(answers[i]->json);
    } else {
      json["error"] = std::string(answers[i].status().message());
    }
    servers.push_back(std::move(json));
  }
  if (format == OutputFormat::kJson) {
    PrintJson({{"servers", servers}}, out);
  } else {
    table.Print(out);
  }
}

// Of drain, the one that takes something away.
absl::Status ConfirmDrain(const AdminFlags& flags, const std::vector<ServerTarget>& targets,
                          const ToolContext& tool) {
  const std::string names = absl::StrJoin(
      targets, ", ",
      [](std::string* out, const ServerTarget& target) { absl::StrAppend(out, target.name); });
  return Confirmed(flags.yes, tool.ask, IfNobody::kGoOn,
                   absl::StrCat(flags.stay ? "Turn clients away from " : "End ", names, "?"));
}

absl::Status RunAdmin(const AdminFlags& flags, const Ask& ask, bool ends_servers,
                      const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(std::vector<ServerTarget> all, AdminTargetsOf(flags.servers));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets,
                            ChooseTargets(std::move(all), flags.names));
  if (flags.dry_run) {
    for (const ServerTarget& target : targets) {
      out << (flags.stay ? "would turn clients away from " : "would end ") << target.name << " ("
          << target.address << ")\n";
    }
    return absl::OkStatus();
  }
  if (ends_servers) VICINITY_RETURN_IF_ERROR(ConfirmDrain(flags, targets, tool));
  const std::vector<absl::StatusOr<Done>> answers = AskAll(targets, flags.servers.timeout(), ask);
  Print(targets, answers, flags.servers.format, out);
  std::vector<absl::Status> statuses;
  std::string faults;
  for (const auto& answer : answers) {
    statuses.push_back(answer.status());
    if (answer.ok() && !answer->fault.empty()) {
      absl::StrAppend(&faults, faults.empty() ? "" : "; ", answer->fault);
    }
  }
  VICINITY_RETURN_IF_ERROR(OutcomeOf(targets, statuses));
  if (faults.empty()) return absl::OkStatus();
  return WithExitCode(absl::DataLossError(faults), ExitCode::kDegraded);
}

CLI::App* AddSubcommand(CLI::App* app, const char* name, const char* text, AdminFlags* flags) {
  CLI::App* sub = app->add_subcommand(name, text);
  AddServersFlags(sub, &flags->servers);
  sub->add_option("--name", flags->names, "with --cluster: these servers alone")->delimiter(',');
  return sub;
}

}  // namespace

Action DeclareAdmin(CLI::App* app) {
  const auto flags = std::make_shared<AdminFlags>();
  const auto ask = std::make_shared<Ask>();
  app->require_subcommand(1);
  CLI::App* drain = AddSubcommand(app, "drain", "end servers, calls under way first", flags.get());
  drain->add_flag("--stay", flags->stay, "end nothing: turn clients away until `undrain`");
  drain->add_flag("--yes", flags->yes, "do not ask, on a terminal");
  drain->add_flag("--dry-run", flags->dry_run, "only say which servers it would end");
  const auto ends_servers = std::make_shared<bool>(false);
  drain->callback([flags, ask, ends_servers] {
    if (flags->names.empty() && flags->servers.addresses.empty()) {
      throw CLI::ValidationError("drain", "say which servers: --name, or --server");
    }
    *ask = [flags](const ServerTarget& server, absl::Duration timeout) {
      return Drain(flags->stay, server, timeout);
    };
    *ends_servers = true;
  });
  CLI::App* const undrain =
      AddSubcommand(app, "undrain", "take clients again, after drain --stay", flags.get());
  undrain->callback([ask] { *ask = &Undrain; });
  CLI::App* level = AddSubcommand(app, "log-level", "set the log level", flags.get());
  level->add_option("LEVEL", flags->level, "debug, info, warning or error")
      ->required()
      ->check(OneOf({"debug", "info", "warning", "error"}));
  level->callback([flags, ask] {
    *ask = [flags](const ServerTarget& server, absl::Duration timeout) {
      return SetLogLevel(flags->level, server, timeout);
    };
  });
  CLI::App* verify = AddSubcommand(app, "verify", "read all served files again", flags.get());
  verify->add_option("--rate", flags->mib_per_second, "MiB a second (the server's --check-rate)")
      ->check(InRange(0.0, 1048576.0));
  verify->callback([flags, ask] {
    *ask = [flags](const ServerTarget& server, absl::Duration timeout) {
      return Verify(flags->mib_per_second, server, timeout);
    };
  });
  CLI::App* reload = AddSubcommand(app, "reload", "read the access file again", flags.get());
  reload->callback([ask] { *ask = &Reload; });
  return [flags, ask, ends_servers](const ToolContext& tool, std::ostream& out) {
    return RunAdmin(*flags, *ask, *ends_servers, tool, out);
  };
}

}  // namespace vicinity::cli

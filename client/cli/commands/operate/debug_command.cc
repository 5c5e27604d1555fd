#include "client/cli/commands/operate/debug_command.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/commands/operate/machine_checks.h"
#include "client/cli/commands/operate/shell_command.h"
#include "client/cli/flags/admin_probe.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/output.h"
#include "proto/admin.pb.h"
#include "proto/cluster.pb.h"
#include "proto/cluster/text_proto.h"
#include "proto/common/file.h"
#include "proto/common/status.h"
#include "proto/version.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  ServersFlags servers;
  std::string output;
};

// What no file may hold, whatever else is in it: the token of who asks.
std::vector<std::string> SecretsOf(const CredentialOptions& credentials) {
  std::vector<std::string> secrets;
  const char* const token = std::getenv("VICINITY_TOKEN");
  if (token != nullptr) secrets.push_back(token);
  std::string file = credentials.token_file;
  const char* const of_environment = std::getenv("VICINITY_TOKEN_FILE");
  if (file.empty() && of_environment != nullptr) file = of_environment;
  if (!file.empty()) secrets.push_back(ReadFile(file, 1 << 20).value_or(""));
  std::vector<std::string> kept;
  for (const std::string& secret : secrets) {
    const std::string bare(absl::StripAsciiWhitespace(secret));
    if (!bare.empty()) kept.push_back(bare);
  }
  return kept;
}

// A new folder, for its owner alone.
class Dump {
 public:
  Dump(std::string folder, std::vector<std::string> secrets)
      : folder_(std::move(folder)), secrets_(std::move(secrets)) {}

  absl::Status Write(const std::string& name, std::string text) const {
    for (const std::string& secret : secrets_) {
      text = absl::StrReplaceAll(text, {{secret, "[secret]"}});
    }
    return WriteFileAtomically(absl::StrCat(folder_, "/", name), text);
  }
  absl::Status Write(const std::string& name, const Json& json) const {
    return Write(name, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }

 private:
  const std::string folder_;
  const std::vector<std::string> secrets_;
};

template <typename Message>
Json AsJson(const absl::StatusOr<Message>& answer) {
  if (!answer.ok()) return {{"error", std::string(answer.status().message())}};
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(*answer, &text).ok()) {
    return {{"error", "the answer does not become JSON"}};
  }
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// Names of servers become names of files, without an ending.
std::string FileName(size_t position, const std::string& server) {
  std::string name = absl::StrCat("server-", position, "-");
  for (const char c : server) {
    name += absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' ? c : '_';
  }
  return name;
}

// As the server's own log has them.
std::string LogText(const absl::StatusOr<proto::LogsReply>& answer) {
  if (!answer.ok()) return absl::StrCat("no lines: ", answer.status().message(), "\n");
  std::string text;
  for (const proto::LogLine& line : answer->lines()) {
    absl::StrAppend(&text,
                    absl::FormatTime("%Y-%m-%d %H:%M:%E3S", absl::FromUnixMicros(line.time_us()),
                                     absl::UTCTimeZone()),
                    " ", line.level(), " ", line.text(), "\n");
  }
  return text;
}

absl::Status WriteServers(const ServersFlags& flags, const std::vector<ServerTarget>& targets,
                          const Dump& dump) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> admins,
                            AdminTargetsBeside(flags, targets));
  const absl::Duration timeout = flags.timeout();
  const auto health = AskAll(targets, timeout, AskHealth);
  const auto status = AskAll(targets, timeout, AskStatusAndMetrics);
  const auto described = AskAll(targets, timeout, AskDescribe);
  const auto config = AskAll(admins, timeout, AskConfig);
  const auto logs = AskAll(admins, timeout, [](const ServerTarget& admin, absl::Duration limit) {
    return AskLogs(admin, limit, proto::LogsRequest());
  });
  for (size_t i = 0; i < targets.size(); ++i) {
    const std::string well =
        health[i].ok() ? health[i]->health : std::string(health[i].status().message());
    const std::string name = FileName(i, targets[i].name);
    VICINITY_RETURN_IF_ERROR(dump.Write(name + ".json", Json{{"name", targets[i].name},
                                                             {"address", targets[i].address},
                                                             {"health", well},
                                                             {"config", AsJson(config[i])},
                                                             {"status", AsJson(status[i])},
                                                             {"describe", AsJson(described[i])}}));
    VICINITY_RETURN_IF_ERROR(dump.Write(name + ".log", LogText(logs[i])));
  }
  return absl::OkStatus();
}

// Written anew from what it says: comments, where people keep things, stay behind.
absl::Status WriteCluster(const std::string& path, const Dump& dump) {
  if (path.empty()) return absl::OkStatus();
  VICINITY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  proto::Cluster cluster;
  VICINITY_RETURN_IF_ERROR(ParseTextProto(path, text, &cluster));
  std::string bare;
  google::protobuf::TextFormat::PrintToString(cluster, &bare);
  return dump.Write("cluster.textproto", bare);
}

absl::Status WriteMachine(const Dump& dump) {
  Json findings = Json::array();
  for (const Finding& finding : CheckMachine()) {
    findings.push_back({{"what", finding.what}, {"found", finding.found}});
  }
  return dump.Write(
      "machine.json",
      Json{{"tool_version", kVersion},
           {"time", absl::FormatTime(absl::RFC3339_sec, absl::Now(), absl::UTCTimeZone())},
           {"findings", findings}});
}

absl::Status Fill(const ServersFlags& flags, const Dump& dump) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets, TargetsOf(flags));
  VICINITY_RETURN_IF_ERROR(WriteMachine(dump));
  VICINITY_RETURN_IF_ERROR(WriteCluster(flags.cluster, dump));
  return WriteServers(flags, targets, dump);
}

bool IsArchive(const std::string& path) {
  return absl::EndsWith(path, ".tar.gz") || absl::EndsWith(path, ".tgz");
}

// The folder becomes the output whole, or the archive of it does.
absl::Status Finish(const std::string& folder, const std::string& output) {
  std::error_code error;
  if (!IsArchive(output)) {
    std::filesystem::rename(folder, output, error);
    return error ? ErrnoStatus(error.value(), output, "rename") : absl::OkStatus();
  }
  const std::string archive = absl::StrCat(folder, ".tar.gz");
  const absl::Status packed = RunShellCommand(
      absl::StrCat("umask 077; tar -C ", ShellQuoted(folder), " -czf ", ShellQuoted(archive), " ."),
      absl::Minutes(5));
  std::filesystem::remove_all(folder, error);
  VICINITY_RETURN_IF_ERROR(packed);
  std::filesystem::rename(archive, output, error);
  return error ? ErrnoStatus(error.value(), output, "rename") : absl::OkStatus();
}

absl::Status RunDump(Flags flags, const ToolContext& tool) {
  VICINITY_ASSIGN_OR_RETURN(flags.servers, WithCluster(std::move(flags.servers)));
  std::error_code error;
  if (std::filesystem::exists(flags.output, error)) {
    return absl::AlreadyExistsError(absl::StrCat(flags.output, " is there already"));
  }
  std::string folder = absl::StrCat(flags.output, ".XXXXXX");  // on the same disk
  if (mkdtemp(folder.data()) == nullptr) return ErrnoStatus(errno, folder, "mkdtemp");
  absl::Status status = Fill(flags.servers, Dump(folder, SecretsOf(flags.servers.credentials)));
  if (status.ok()) status = Finish(folder, flags.output);
  if (!status.ok()) {
    std::filesystem::remove_all(folder, error);
    return status;
  }
  *tool.narration << flags.output
                  << ": status, metrics, schema, flags and last log lines of each server, the "
                     "cluster file without its comments, this machine's limits; no tokens, no "
                     "keys, no rows of the graph\n";
  return absl::OkStatus();
}

}  // namespace

Action DeclareDebug(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->require_subcommand(1);
  CLI::App* const dump = app->add_subcommand("dump", "all of it, in a folder or an archive");
  AddServersFlags(dump, &flags->servers);
  dump->add_option("--output", flags->output, "a new folder, or FILE.tar.gz")
      ->type_name("PATH")
      ->required();
  return [flags](const ToolContext& tool, std::ostream&) { return RunDump(*flags, tool); };
}

}  // namespace vicinity::cli

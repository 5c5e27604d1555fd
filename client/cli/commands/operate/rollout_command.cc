#include "client/cli/commands/operate/rollout_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "client/cli/commands/live/hand_over.h"
#include "client/cli/commands/live/promotion.h"
#include "client/cli/commands/operate/rollout.h"
#include "client/cli/commands/operate/shell_command.h"
#include "client/cli/flags/admin_probe.h"
#include "client/cli/flags/server_call.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/confirmation.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "proto/admin.grpc.pb.h"
#include "proto/cluster/cluster_file.h"
#include "proto/cluster/host_port.h"
#include "proto/command_line/choices.h"
#include "proto/command_line/nearest_word.h"
#include "proto/common/human_text.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using proto::Admin;

struct Flags {
  ServersFlags servers;
  std::vector<std::string> names;
  std::string command;
  double wait_seconds = 300;
  double command_seconds = 120;
  bool no_drain = false;
  bool force = false;
  bool dry_run = false;
  bool yes = false;
};

// A cluster's servers as a rollout sees them, in the file's order.
struct Cluster {
  ClusterFile file;
  std::vector<RolloutServer> servers;
  std::vector<ServerTarget> targets;        // data addresses
  std::vector<ServerTarget> admin_targets;  // without an address: none
  std::vector<size_t> to_roll;

  size_t IndexOf(const std::string& name) const {
    size_t i = 0;
    while (servers[i].name != name) ++i;
    return i;
  }
};

absl::StatusOr<std::vector<size_t>> ToRoll(const std::vector<RolloutServer>& servers,
                                           const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const RolloutServer& server : servers) known.push_back(server.name);
  std::vector<size_t> positions;
  for (const std::string& name : names.empty() ? known : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      return absl::NotFoundError(absl::StrCat("no server \"", name, "\"", DidYouMean(name, known)));
    }
    positions.push_back(static_cast<size_t>(found - known.begin()));
  }
  return positions;
}

absl::StatusOr<Cluster> ReadCluster(const Flags& flags) {
  if (flags.servers.cluster.empty()) {
    return absl::InvalidArgumentError("--cluster is needed: it says which servers there are");
  }
  Cluster cluster;
  VICINITY_ASSIGN_OR_RETURN(cluster.file, ReadClusterFile(flags.servers.cluster));
  VICINITY_ASSIGN_OR_RETURN(cluster.targets, TargetsOf(flags.servers));
  VICINITY_ASSIGN_OR_RETURN(cluster.admin_targets,
                            AdminTargetsBeside(flags.servers, cluster.targets));
  for (const ClusterServer& server : cluster.file.servers) {
    RolloutServer one;
    one.name = server.name;
    for (const ShardId shard : server.shards) one.shards.push_back(shard.value);
    one.drains = !flags.no_drain && !server.admin.empty();
    one.hands_over = !server.admin.empty() && !SharedShards(cluster.file, server.name).empty();
    cluster.servers.push_back(std::move(one));
  }
  VICINITY_ASSIGN_OR_RETURN(cluster.to_roll, ToRoll(cluster.servers, flags.names));
  return cluster;
}

// With the server's name, address and host in the places of {name}, {address} and {host}.
std::string CommandFor(const std::string& command, const ServerTarget& target) {
  const absl::StatusOr<HostPort> address = ParseHostPort(target.address);
  return absl::StrReplaceAll(command, {{"{name}", ShellQuoted(target.name)},
                                       {"{address}", ShellQuoted(target.address)},
                                       {"{host}", ShellQuoted(address.ok() ? address->host : "")}});
}

// The shards that another server writes after it than before.
absl::StatusOr<std::vector<int32_t>> Promoted(const Flags& flags, const Cluster& cluster,
                                              const std::vector<ShardId>& shards,
                                              const std::string& from, const std::string& to) {
  PromotionOptions options;
  options.from = from;
  options.to = to;
  AppointCalls calls(cluster.admin_targets, flags.servers.timeout());
  const PromotedShards promoted = PromoteShards(cluster.file, shards, options, &calls);
  std::vector<int32_t> changed;
  for (const ShardPromotion& one : promoted.done) changed.push_back(one.shard.value);
  if (promoted.failed.ok()) return changed;
  if (changed.empty()) return promoted.failed;
  return absl::Status(promoted.failed.code(),
                      absl::StrCat(promoted.failed.message(), "; shard ",
                                   absl::StrJoin(changed, ", "), " has its next writer already"));
}

RolloutCalls CallsOf(const Flags& flags, const Cluster& cluster, std::ostream* narration) {
  RolloutCalls calls;
  const absl::Duration timeout = flags.servers.timeout();
  calls.hand_over = [&cluster, &flags](const std::string& server) {
    return Promoted(flags, cluster, SharedShards(cluster.file, server), server, "");
  };
  calls.hand_back = [&cluster, &flags](const std::string& server,
                                       const std::vector<int32_t>& written) {
    std::vector<ShardId> shards;
    for (const int32_t shard : written) shards.push_back(ShardId{shard});
    return Promoted(flags, cluster, shards, "", server).status();
  };
  calls.drain = [&cluster, timeout](const std::string& server) {
    return CallServer<Admin>(cluster.admin_targets[cluster.IndexOf(server)], timeout,
                             &Admin::Stub::Drain, proto::DrainRequest())
        .status();
  };
  // Only a question, whose answer does not matter.
  calls.runs = [&cluster, timeout](const std::string& server) {
    const absl::Status status =
        CallServer<Admin>(cluster.admin_targets[cluster.IndexOf(server)], timeout,
                          &Admin::Stub::Appoint, proto::AppointRequest())
            .status();
    return !absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status);
  };
  calls.restart = [&cluster, &flags](const std::string& server) {
    return RunShellCommand(CommandFor(flags.command, cluster.targets[cluster.IndexOf(server)]),
                           absl::Seconds(flags.command_seconds));
  };
  calls.look = [&cluster,
                timeout](const std::string& server) -> absl::StatusOr<proto::StatusReply> {
    const ServerTarget& target = cluster.targets[cluster.IndexOf(server)];
    VICINITY_ASSIGN_OR_RETURN(const HealthAnswer health, AskHealth(target, timeout));
    if (health.health != "serving") return absl::UnavailableError(health.health);
    return AskStatus(target, timeout);
  };
  calls.now = [] { return absl::Now(); };
  calls.sleep = [](absl::Duration time) { absl::SleepFor(time); };
  calls.tell = [narration](const std::string& line) { *narration << line << std::endl; };
  return calls;
}

void TellPlan(const Flags& flags, const Cluster& cluster, std::ostream& out) {
  for (const size_t server : cluster.to_roll) {
    const RolloutServer& one = cluster.servers[server];
    out << one.name << ": " << (one.hands_over ? "let others write its shards, " : "")
        << (one.drains       ? "drain, then "
            : one.hands_over ? "then "
                             : "")
        << CommandFor(flags.command, cluster.targets[server]) << '\n';
    const std::vector<int32_t> alone = OnlyThere(cluster.servers, server);
    if (alone.empty()) continue;
    out << one.name << ": no other server has shard " << absl::StrJoin(alone, ", ")
        << ": its rows cannot be had meanwhile\n";
  }
}

struct Row {
  std::string name;
  std::string state;  // "restarted", "failed", "not reached"
  absl::Duration took;
};

void Print(const std::vector<Row>& rows, OutputFormat format, std::ostream& out) {
  Table table({{"SERVER"}, {"STATE"}, {"TOOK", Table::Align::kRight}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    const double seconds = absl::ToDoubleSeconds(row.took);
    table.AddRow({row.name, row.state, row.state == "not reached" ? "" : HumanSeconds(seconds)});
    list.push_back({{"name", row.name}, {"state", row.state}, {"seconds", seconds}});
  }
  if (format == OutputFormat::kJson) {
    PrintJson({{"servers", list}}, out);
  } else {
    table.Print(out);
  }
}

// One after the other; the first that fails is the last that is touched.
absl::Status Roll(const Flags& flags, const Cluster& cluster, const RolloutCalls& calls,
                  std::vector<Row>* rows) {
  RolloutOptions options;
  options.ready_limit = absl::Seconds(flags.wait_seconds);
  absl::Status status;
  for (const size_t server : cluster.to_roll) {
    Row row{cluster.servers[server].name, "not reached", absl::ZeroDuration()};
    if (status.ok() && !flags.force) status = CheckAllReady(cluster.servers, calls);
    if (status.ok()) {
      const absl::Time begin = absl::Now();
      status = RollServer(cluster.servers, server, options, calls);
      row.state = status.ok() ? "restarted" : "failed";
      row.took = absl::Now() - begin;
    }
    rows->push_back(std::move(row));
  }
  return status;
}

absl::Status RunRestart(Flags flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(flags.servers, WithCluster(std::move(flags.servers)));
  VICINITY_ASSIGN_OR_RETURN(const Cluster cluster, ReadCluster(flags));
  const RolloutCalls calls = CallsOf(flags, cluster, tool.narration);
  TellPlan(flags, cluster, flags.dry_run ? out : *tool.narration);
  if (!flags.force) VICINITY_RETURN_IF_ERROR(CheckAllReady(cluster.servers, calls));
  if (flags.dry_run) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(
      Confirmed(flags.yes, tool.ask, IfNobody::kRefuse,
                absl::StrCat("Restart ", cluster.to_roll.size(), " servers, one by one?")));
  std::vector<Row> rows;
  const absl::Status status = Roll(flags, cluster, calls, &rows);
  Print(rows, flags.servers.format, out);
  return status.ok() ? status : WithExitCode(status, ExitCode::kDegraded);
}

}  // namespace

Action DeclareRollout(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->require_subcommand(1);
  CLI::App* const restart =
      app->add_subcommand("restart", "drain, restart and wait until well, server by server");
  AddServersFlags(restart, &flags->servers);
  restart
      ->add_option("--command", flags->command,
                   "what restarts a server, for sh: {name}, {host} and {address} are the server's")
      ->type_name("COMMAND")
      ->required();
  restart->add_option("--name", flags->names, "these servers alone, in this order")
      ->delimiter(',')
      ->type_name("NAME,...");
  restart->add_option("--wait", flags->wait_seconds, "seconds for a server to be well again")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->check(InRange(0.0, 86400.0));
  restart
      ->add_option("--command-limit", flags->command_seconds, "seconds that the command may take")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->check(InRange(0.1, 86400.0));
  restart->add_flag("--no-drain", flags->no_drain, "leave it to the command to end the server");
  restart->add_flag("--force", flags->force, "also while other servers are not well");
  restart->add_flag("--dry-run", flags->dry_run, "only say what would be done");
  restart->add_flag("--yes", flags->yes, "do not ask");
  return
      [flags](const ToolContext& tool, std::ostream& out) { return RunRestart(*flags, tool, out); };
}

}  // namespace vicinity::cli

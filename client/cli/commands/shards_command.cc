#include "client/cli/commands/shards_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/human_text.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "proto/service.pb.h"

namespace vicinity::cli {
namespace {

using Answer = absl::StatusOr<proto::StatusReply>;

// A shard on one server, as a client that comes now would find it.
struct Replica {
  std::string server;
  std::string address;
  std::string state;   // "live", "quarantined": it answers but must not be used, "unreachable"
  std::string reason;  // empty for "live"
  proto::ShardStatus status;  // as the server says it; without a position it is read-only
  uint64_t fingerprint = 0;
  uint64_t calls_in_flight = 0;
  uint64_t bytes_sent = 0;
};

using Shards = std::vector<std::vector<Replica>>;  // by shard

std::string Hex(uint64_t fingerprint) { return absl::StrFormat("%016x", fingerprint); }

// The dataset of most of the servers that answer; of as many, that of the first.
uint64_t CommonDataset(const std::vector<Answer>& answers) {
  std::map<uint64_t, int> servers;
  uint64_t common = 0;
  for (const Answer& answer : answers) {
    if (answer.ok()) ++servers[answer->fingerprint()];
  }
  for (const Answer& answer : answers) {
    if (answer.ok() && servers[answer->fingerprint()] > servers[common]) {
      common = answer->fingerprint();
    }
  }
  return common;
}

// Null: the server does not have it.
const proto::ShardStatus* Find(const proto::StatusReply& reply, ShardId shard) {
  for (const proto::ShardStatus& served : reply.shards()) {
    if (served.shard() == shard.value) return &served;
  }
  return nullptr;
}

// Why a server that answers must not be asked for the shard; empty: it may.
std::string Trouble(const proto::StatusReply& reply, ShardId shard, uint64_t dataset) {
  if (reply.fingerprint() != dataset) {
    return absl::StrCat("of dataset ", Hex(reply.fingerprint()), ", others of ", Hex(dataset));
  }
  const proto::ShardStatus* const served = Find(reply, shard);
  return served == nullptr ? "the server does not have it" : served->fault();
}

Replica MakeReplica(const ServerTarget& target, const Answer& answer, ShardId shard,
                    uint64_t dataset) {
  Replica replica;
  replica.server = target.name;
  replica.address = target.address;
  if (!answer.ok()) {
    replica.state = "unreachable";
    replica.reason = std::string(answer.status().message());
    return replica;
  }
  replica.reason = Trouble(*answer, shard, dataset);
  replica.state = replica.reason.empty() ? "live" : "quarantined";
  replica.fingerprint = answer->fingerprint();
  if (const auto* served = Find(*answer, shard); served != nullptr) replica.status = *served;
  replica.calls_in_flight = answer->calls_in_flight();
  for (const proto::MethodStatus& method : answer->methods()) {
    replica.bytes_sent += method.bytes_sent();
  }
  return replica;
}

int64_t NumLive(const std::vector<Replica>& replicas) {
  return std::count_if(replicas.begin(), replicas.end(),
                       [](const Replica& replica) { return replica.state == "live"; });
}

bool IsWritten(const Shards& shards) {
  return std::any_of(shards.begin(), shards.end(), [](const std::vector<Replica>& replicas) {
    return std::any_of(replicas.begin(), replicas.end(),
                       [](const Replica& replica) { return replica.status.has_position(); });
  });
}

// Who takes changes of the shard, as this server has it.
std::string WriterOf(const Replica& replica) {
  if (!replica.status.has_position()) return "";
  if (replica.status.refuses().empty()) return "here";
  const std::string& writer = replica.status.writer().writer();
  return writer.empty() ? "nobody" : writer == replica.server ? "here, but not now" : writer;
}

void PrintAsJson(const Shards& shards, std::ostream& out) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (size_t shard = 0; shard < shards.size(); ++shard) {
    nlohmann::ordered_json replicas = nlohmann::ordered_json::array();
    for (const Replica& replica : shards[shard]) {
      nlohmann::ordered_json json = {{"server", replica.server},
                                     {"address", replica.address},
                                     {"state", replica.state},
                                     {"reason", replica.reason},
                                     {"fingerprint", Hex(replica.fingerprint)},
                                     {"calls_in_flight", replica.calls_in_flight},
                                     {"bytes_sent", replica.bytes_sent}};
      if (replica.status.has_position()) {
        json.update({{"version", replica.status.position().version()},
                     {"writer", replica.status.writer().writer()},
                     {"term", replica.status.writer().term()},
                     {"refuses", replica.status.refuses()}});
      }
      replicas.push_back(std::move(json));
    }
    list.push_back({{"shard", shard}, {"live", NumLive(shards[shard])}, {"replicas", replicas}});
  }
  PrintJson({{"shards", list}}, out);
}

void PrintAsTable(const Shards& shards, std::ostream& out) {
  constexpr auto kRight = Table::Align::kRight;
  std::vector<Table::Column> columns = {{"SHARD", kRight},     {"LIVE", kRight}, {"SERVER"},
                                        {"ADDRESS"},           {"STATE"},        {"FINGERPRINT"},
                                        {"IN FLIGHT", kRight}, {"SENT", kRight}};
  if (IsWritten(shards)) {
    columns.insert(columns.end(), {{"VERSION", kRight}, {"TERM", kRight}, {"WRITTEN"}});
  }
  Table table(std::move(columns));
  for (size_t shard = 0; shard < shards.size(); ++shard) {
    const std::vector<Replica>& replicas = shards[shard];
    for (const Replica& replica : replicas) {
      const bool first = &replica == &replicas.front();
      std::vector<std::string> cells = {
          first ? absl::StrCat(shard) : "",
          first ? absl::StrCat(NumLive(replicas), "/", replicas.size()) : "", replica.server,
          replica.address, replica.state};
      if (replica.state != "unreachable") {
        cells.insert(cells.end(), {Hex(replica.fingerprint),
                                   HumanCount(static_cast<int64_t>(replica.calls_in_flight)),
                                   HumanBytes(static_cast<int64_t>(replica.bytes_sent))});
      }
      if (replica.status.has_position()) {
        cells.insert(cells.end(),
                     {HumanCount(static_cast<int64_t>(replica.status.position().version())),
                      absl::StrCat(replica.status.writer().term()), WriterOf(replica)});
      }
      table.AddRow(std::move(cells));
    }
  }
  table.Print(out);
}

// Why servers that are to take changes take none, a line each.
void PrintRefusals(const Shards& shards, std::ostream& out) {
  for (const std::vector<Replica>& replicas : shards) {
    for (const Replica& replica : replicas) {
      const proto::ShardStatus& status = replica.status;
      if (status.refuses().empty() || status.writer().writer() != replica.server) continue;
      out << replica.server << ": " << status.refuses() << '\n';
    }
  }
}

// OK if every replica is live; else what is not, the shards that have none first.
absl::Status OutcomeOf(const Shards& shards) {
  std::vector<std::string> lost;
  std::map<std::string, std::string> reasons;  // by server: the first shard's
  for (size_t shard = 0; shard < shards.size(); ++shard) {
    if (NumLive(shards[shard]) == 0) lost.push_back(absl::StrCat(shard));
    for (const Replica& replica : shards[shard]) {
      if (replica.state == "live") continue;
      reasons.emplace(replica.server,
                      absl::StrCat("shard ", shard, " at ", replica.address, " (server ",
                                   replica.server, ") is ", replica.state, ": ", replica.reason));
    }
  }
  if (reasons.empty()) return absl::OkStatus();
  std::string text;
  if (!lost.empty()) {
    text = absl::StrCat("no live replica of shard ", absl::StrJoin(lost, ", "), "; ");
  }
  absl::StrAppend(&text, absl::StrJoin(reasons, "; ", [](std::string* out, const auto& reason) {
    absl::StrAppend(out, reason.second);
  }));
  const bool all_lost = lost.size() == shards.size();
  return WithExitCode(absl::UnavailableError(text),
                      all_lost ? ExitCode::kNotConnected : ExitCode::kDegraded);
}

absl::Status RunShards(const ServersFlags& given, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const ServersFlags flags, WithCluster(given));
  if (flags.cluster.empty()) {
    return absl::InvalidArgumentError("--cluster is needed: it says which servers hold a shard");
  }
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets, TargetsOf(flags));
  VICINITY_ASSIGN_OR_RETURN(const ClusterFile cluster, ReadClusterFile(flags.cluster));
  const std::vector<Answer> answers = AskAll(targets, flags.timeout(), AskStatus);
  const uint64_t dataset = CommonDataset(answers);
  Shards shards(cluster.num_shards);
  for (int32_t shard = 0; shard < cluster.num_shards; ++shard) {
    for (const int server : cluster.ServersOf(ShardId{shard})) {
      shards[shard].push_back(
          MakeReplica(targets[server], answers[server], ShardId{shard}, dataset));
    }
  }
  if (flags.format == OutputFormat::kJson) {
    PrintAsJson(shards, out);
  } else {
    PrintAsTable(shards, out);
    PrintRefusals(shards, out);
  }
  const absl::Status outcome = OutcomeOf(shards);
  const bool all_refused = std::all_of(answers.begin(), answers.end(), [](const Answer& answer) {
    return absl::IsUnauthenticated(answer.status()) || absl::IsPermissionDenied(answer.status());
  });
  return all_refused ? WithExitCode(outcome, ExitCode::kDenied) : outcome;
}

}  // namespace

Action DeclareShards(CLI::App* app) {
  const auto flags = std::make_shared<ServersFlags>();
  AddServersFlags(app, flags.get());
  return [flags](const ToolContext&, std::ostream& out) { return RunShards(*flags, out); };
}

}  // namespace vicinity::cli

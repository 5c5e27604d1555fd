#include "client/cli/commands/describe_command.h"

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
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/dataset_description.h"
#include "client/cli/output/index_list.h"
#include "client/cli/output/output.h"
#include "partition/dataset/manifest.h"
#include "proto/common/status.h"
#include "proto/service.pb.h"

namespace vicinity::cli {
namespace {

struct Flags {
  ServersFlags servers;
  std::string data;
};

absl::Status Print(const proto::DescribeReply& description, const nlohmann::ordered_json& indexes,
                   const nlohmann::ordered_json& servers, OutputFormat format, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(nlohmann::ordered_json json, DescriptionAsJson(description));
  json["indexes"] = indexes;
  if (format == OutputFormat::kJson) {
    if (!servers.empty()) json["servers"] = servers;
    PrintJson(json, out);
    return absl::OkStatus();
  }
  PrintDescription(json, out);
  PrintIndexes(indexes, out);
  if (servers.empty()) return absl::OkStatus();
  out << '\n';
  Table table({{"SERVER"}, {"ADDRESS"}, {"SHARDS"}});
  for (const auto& server : servers) {
    table.AddRow({server["name"], server["address"],
                  server.contains("shards") ? server["shards"].dump() : "no answer"});
  }
  table.Print(out);
  return absl::OkStatus();
}

// The first answer stands for all; each other must be of the same dataset.
absl::Status CheckSameDataset(const std::vector<ServerTarget>& targets,
                              const std::vector<absl::StatusOr<proto::DescribeReply>>& answers,
                              size_t first) {
  for (size_t i = first + 1; i < answers.size(); ++i) {
    if (!answers[i].ok() || answers[i]->fingerprint() == answers[first]->fingerprint()) continue;
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s serves \"%s\" with fingerprint %016x, %s serves \"%s\" with fingerprint %016x",
        targets[first].name, answers[first]->dataset(), answers[first]->fingerprint(),
        targets[i].name, answers[i]->dataset(), answers[i]->fingerprint()));
  }
  return absl::OkStatus();
}

// Those that servers have open. One that does not tell is left out: it may be older.
nlohmann::ordered_json ServedIndexes(const std::vector<ServerTarget>& targets,
                                     absl::Duration timeout) {
  std::vector<proto::StatusReply> told;
  for (absl::StatusOr<proto::StatusReply>& answer : AskAll(targets, timeout, AskStatusAndMetrics)) {
    if (answer.ok()) told.push_back(*std::move(answer));
  }
  return IndexesAsJson(told);
}

absl::Status DescribeServers(const ServersFlags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets, TargetsOf(flags));
  const auto answers = AskAll(targets, flags.timeout(), AskDescribe);
  size_t first = answers.size();
  nlohmann::ordered_json servers = nlohmann::ordered_json::array();
  std::vector<absl::Status> statuses;
  for (size_t i = 0; i < answers.size(); ++i) {
    statuses.push_back(answers[i].status());
    nlohmann::ordered_json server = {
        {"name", targets[i].name}, {"address", targets[i].address}, {"answered", answers[i].ok()}};
    if (answers[i].ok()) {
      first = std::min(first, i);
      server["shards"] = answers[i]->shards();
    } else {
      server["error"] = std::string(answers[i].status().message());
    }
    servers.push_back(std::move(server));
  }
  if (first < answers.size()) {
    VICINITY_RETURN_IF_ERROR(CheckSameDataset(targets, answers, first));
    VICINITY_RETURN_IF_ERROR(Print(*answers[first], ServedIndexes(targets, flags.timeout()),
                                   servers, flags.format, out));
  }
  return OutcomeOf(targets, statuses);
}

absl::Status RunDescribe(const Flags& flags, std::ostream& out) {
  if (flags.data.empty()) return DescribeServers(flags.servers, out);
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifest(flags.data));
  return Print(DescriptionOf(manifest), IndexesAsJson(manifest), nlohmann::ordered_json::array(),
               flags.servers.format, out);
}

}  // namespace

Action DeclareDescribe(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  AddServersFlags(app, &flags->servers);
  app->add_option("--data", flags->data, "instead: a dataset directory")
      ->excludes("--cluster")
      ->excludes("--context")
      ->excludes("--server");
  return [flags](const ToolContext&, std::ostream& out) { return RunDescribe(*flags, out); };
}

}  // namespace vicinity::cli

#include "client/cli/commands/status_command.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/bulk_place.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/latency.h"
#include "client/cli/output/output.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"
#include "proto/service.pb.h"

namespace vicinity::cli {
namespace {

using Answers = std::vector<absl::StatusOr<proto::StatusReply>>;

struct Flags {
  ServersFlags servers;
  bool metrics = false;
};

nlohmann::ordered_json MetricsJson(const proto::StatusReply& reply) {
  nlohmann::ordered_json metrics = nlohmann::ordered_json::array();
  for (const proto::MetricStatus& metric : reply.metrics()) {
    nlohmann::ordered_json labels = nlohmann::ordered_json::object();
    for (const proto::MetricLabel& label : metric.labels()) labels[label.name()] = label.value();
    metrics.push_back({{"name", metric.name()},
                       {"help", metric.help()},
                       {"kind", metric.is_counter() ? "counter" : "gauge"},
                       {"labels", std::move(labels)},
                       {"value", metric.value()}});
  }
  return metrics;
}

nlohmann::ordered_json ToJson(const proto::StatusReply& reply, bool metrics) {
  nlohmann::ordered_json json;
  json["server"] = reply.server();
  json["version"] = reply.version();
  json["dataset"] = reply.dataset();
  json["fingerprint"] = absl::StrFormat("%016x", reply.fingerprint());
  json["uptime_seconds"] = reply.uptime_seconds();
  json["resident_bytes"] = reply.resident_bytes();
  json["calls_in_flight"] = reply.calls_in_flight();
  json["certificate_expires"] = reply.certificate_expires();
  json["certificate_fault"] = reply.certificate_fault();
  json["bulk"] = BulkJson(BulkPlaceOf(reply));
  json["shards"] = nlohmann::ordered_json::array();
  for (const proto::ShardStatus& shard : reply.shards()) {
    json["shards"].push_back({{"shard", shard.shard()},
                              {"mapped_bytes", shard.mapped_bytes()},
                              {"checked_bytes", shard.checked_bytes()},
                              {"fault", shard.fault()}});
  }
  json["scrub"] = {{"passes", reply.scrub().passes()},
                   {"done_bytes", reply.scrub().done_bytes()},
                   {"all_bytes", reply.scrub().all_bytes()}};
  json["methods"] = nlohmann::ordered_json::array();
  for (const proto::MethodStatus& method : reply.methods()) {
    json["methods"].push_back({{"method", method.method()},
                               {"started", method.started()},
                               {"failed", method.failed()},
                               {"bytes_sent", method.bytes_sent()},
                               {"bytes_received", method.bytes_received()},
                               {"bytes_copied", method.bytes_copied()},
                               {"busy_seconds", method.busy_seconds()}});
  }
  json["limits"] = nlohmann::ordered_json::array();
  for (const proto::LimitStatus& limit : reply.limits()) {
    json["limits"].push_back({{"name", limit.name()},
                              {"limit", limit.limit()},
                              {"used", limit.used()},
                              {"refused", limit.refused()}});
  }
  json["latency_seconds"] = LatencyJson(LatencyOf(reply));
  if (metrics) json["metrics"] = MetricsJson(reply);
  return json;
}

void PrintAsJson(const std::vector<ServerTarget>& targets, const Answers& answers, bool metrics,
                 std::ostream& out) {
  nlohmann::ordered_json servers = nlohmann::ordered_json::array();
  for (size_t i = 0; i < targets.size(); ++i) {
    nlohmann::ordered_json json = {
        {"name", targets[i].name}, {"address", targets[i].address}, {"answered", answers[i].ok()}};
    if (answers[i].ok()) {
      json.update(ToJson(*answers[i], metrics));
    } else {
      json["error"] = std::string(answers[i].status().message());
    }
    servers.push_back(std::move(json));
  }
  PrintJson({{"servers", servers}}, out);
}

absl::Time ExpiryOf(const proto::StatusReply& reply) {
  return reply.certificate_expires() == 0 ? absl::InfiniteFuture()
                                          : absl::FromUnixSeconds(reply.certificate_expires());
}

std::vector<std::string> Cells(const ServerTarget& target, const proto::StatusReply& reply) {
  std::string shards;
  bool faulty = false;
  for (const proto::ShardStatus& shard : reply.shards()) {
    absl::StrAppend(&shards, shards.empty() ? "" : ",", shard.shard());
    faulty = faulty || !shard.fault().empty();
  }
  int64_t calls = 0;
  int64_t failed = 0;
  int64_t sent = 0;
  for (const proto::MethodStatus& method : reply.methods()) {
    calls += static_cast<int64_t>(method.started());
    failed += static_cast<int64_t>(method.failed());
    sent += static_cast<int64_t>(method.bytes_sent());
  }
  const Latency latency = LatencyOf(reply);
  return {target.name,
          target.address,
          faulty ? "faulty" : "ok",
          shards,
          reply.dataset(),
          HumanSeconds(reply.uptime_seconds()),
          HumanBytes(static_cast<int64_t>(reply.resident_bytes())),
          HumanCount(reply.calls_in_flight()),
          HumanCount(calls),
          HumanCount(failed),
          HumanBytes(sent),
          LatencyText(latency, latency.p50),
          LatencyText(latency, latency.p99),
          BulkText(BulkPlaceOf(reply)),
          HumanTimeLeft(ExpiryOf(reply), absl::Now())};
}

void PrintAsTable(const std::vector<ServerTarget>& targets, const Answers& answers,
                  std::ostream& out) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"SERVER"},
               {"ADDRESS"},
               {"STATE"},
               {"SHARDS"},
               {"DATASET"},
               {"UPTIME", kRight},
               {"MEMORY", kRight},
               {"IN FLIGHT", kRight},
               {"CALLS", kRight},
               {"FAILED", kRight},
               {"SENT", kRight},
               {"P50", kRight},
               {"P99", kRight},
               {"BULK"},
               {"CERTIFICATE", kRight}});
  for (size_t i = 0; i < targets.size(); ++i) {
    table.AddRow(answers[i].ok() ? Cells(targets[i], *answers[i])
                                 : std::vector<std::string>{targets[i].name, targets[i].address,
                                                            AbsenceOf(answers[i].status())});
  }
  table.Print(out);
}

// A line for each number, as in "a: vicinity_server_sent_bytes_total{method=FetchRows} 12".
void PrintMetrics(const std::vector<ServerTarget>& targets, const Answers& answers,
                  std::ostream& out) {
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!answers[i].ok()) continue;
    for (const proto::MetricStatus& metric : answers[i]->metrics()) {
      std::string labels;
      for (const proto::MetricLabel& label : metric.labels()) {
        absl::StrAppend(&labels, labels.empty() ? "" : ",", label.name(), "=", label.value());
      }
      out << targets[i].name << ": " << metric.name();
      if (!labels.empty()) out << '{' << labels << '}';
      out << absl::StrFormat(" %.15g\n", metric.value());
    }
  }
}

// Certificates that end soon, and files of TLS that servers do not take.
void PrintCertificates(const std::vector<ServerTarget>& targets, const Answers& answers,
                       std::ostream& out) {
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!answers[i].ok()) continue;
    out << ExpiryWarning(targets[i].name, ExpiryOf(*answers[i]), absl::Now());
    const std::string& fault = answers[i]->certificate_fault();
    if (!fault.empty()) {
      out << targets[i].name << ": goes on with the TLS files before, for " << fault << '\n';
    }
  }
}

// Of a live graph; "" where the disk has room.
std::string DiskOf(const proto::StatusReply& reply) {
  for (const proto::MetricStatus& metric : reply.metrics()) {
    if (metric.name() != "vicinity_server_changes_disk_level") continue;
    if (metric.value() == 1) return "the disk of its changes is nearly full";
    if (metric.value() == 2) {
      return "the disk of its changes is full: it takes none, and reads go on; make room";
    }
  }
  return "";
}

void PrintDisks(const std::vector<ServerTarget>& targets, const Answers& answers,
                std::ostream& out) {
  for (size_t i = 0; i < targets.size(); ++i) {
    const std::string disk = answers[i].ok() ? DiskOf(*answers[i]) : "";
    if (!disk.empty()) out << targets[i].name << ": " << disk << '\n';
  }
}

// What has turned calls away, one line each; nothing where nothing has.
void PrintRefusals(const std::vector<ServerTarget>& targets, const Answers& answers,
                   std::ostream& out) {
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!answers[i].ok()) continue;
    for (const proto::LimitStatus& limit : answers[i]->limits()) {
      if (limit.refused() == 0) continue;
      out << targets[i].name << ": limit " << limit.name();
      if (limit.limit() > 0) out << " = " << limit.limit();
      out << " was met " << HumanCount(static_cast<int64_t>(limit.refused())) << " times\n";
    }
  }
}

// Faulty shards are as bad as missing servers: their rows cannot be had.
absl::Status FaultsOf(const std::vector<ServerTarget>& targets, const Answers& answers) {
  std::string faults;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!answers[i].ok()) continue;
    for (const proto::ShardStatus& shard : answers[i]->shards()) {
      if (shard.fault().empty()) continue;
      absl::StrAppend(&faults, faults.empty() ? "" : "; ", "shard ", shard.shard(), " of ",
                      targets[i].name, ": ", shard.fault());
    }
  }
  if (faults.empty()) return absl::OkStatus();
  return WithExitCode(absl::DataLossError(faults), ExitCode::kDegraded);
}

absl::Status RunStatus(const Flags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets, TargetsOf(flags.servers));
  const Answers answers = AskAll(targets, flags.servers.timeout(), AskStatusAndMetrics);
  if (flags.servers.format == OutputFormat::kJson) {
    PrintAsJson(targets, answers, flags.metrics, out);
  } else {
    PrintAsTable(targets, answers, out);
    PrintRefusals(targets, answers, out);
    PrintDisks(targets, answers, out);
    PrintCertificates(targets, answers, out);
    if (flags.metrics) PrintMetrics(targets, answers, out);
  }
  std::vector<absl::Status> statuses;
  for (const auto& answer : answers) statuses.push_back(answer.status());
  VICINITY_RETURN_IF_ERROR(OutcomeOf(targets, statuses));
  return FaultsOf(targets, answers);
}

}  // namespace

Action DeclareStatus(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  AddServersFlags(app, &flags->servers);
  app->add_flag("--metrics", flags->metrics, "also show every number that the servers count");
  return [flags](const ToolContext&, std::ostream& out) { return RunStatus(*flags, out); };
}

}  // namespace vicinity::cli

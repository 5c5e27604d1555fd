#include "client/cli/commands/top_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/bulk_place.h"
#include "client/cli/output/latency.h"
#include "client/cli/output/load_rates.h"
#include "client/cli/output/output.h"
#include "proto/command_line/choices.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"
#include "proto/service.pb.h"

namespace vicinity::cli {
namespace {

using Answers = std::vector<absl::StatusOr<proto::StatusReply>>;

struct TopFlags {
  ServersFlags servers;
  double interval_seconds = 1;
  bool once = false;
  int64_t count = 0;  // of tables; 0: until interrupted
};

// One server in one interval.
struct Row {
  ServerTarget target;
  absl::Status status;  // why there is nothing else
  proto::StatusReply now;
  LoadRates rates;
  Latency latency;                           // of all calls for data that ended in it
  std::map<std::string, Latency> by_method;  // of the methods of `rates`
};

std::vector<Row> Compare(const std::vector<ServerTarget>& targets, const Answers& before,
                         const Answers& after) {
  std::vector<Row> rows;
  for (size_t i = 0; i < targets.size(); ++i) {
    Row row;
    row.target = targets[i];
    row.status = after[i].status();
    if (after[i].ok()) {
      row.now = *after[i];
      // A server seen for the first time is compared with itself: its rates are 0.
      const proto::StatusReply& then = before[i].ok() ? *before[i] : *after[i];
      row.rates = RatesBetween(then, *after[i]);
      row.latency = LatencyBetween(then, *after[i]);
      for (const MethodRates& method : row.rates.methods) {
        row.by_method[method.method] = LatencyBetween(then, *after[i], method.method);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

nlohmann::ordered_json ToJson(const MethodRates& rates) {
  return {{"calls_per_second", rates.calls},
          {"failed_per_second", rates.failed},
          {"bytes_per_second", rates.bytes}};
}

void PrintAsJson(const std::vector<Row>& rows, std::ostream& out) {
  nlohmann::ordered_json servers = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    nlohmann::ordered_json json = {
        {"name", row.target.name}, {"address", row.target.address}, {"answered", row.status.ok()}};
    if (!row.status.ok()) {
      json["error"] = std::string(row.status.message());
      servers.push_back(std::move(json));
      continue;
    }
    json["seconds"] = row.rates.seconds;
    json["calls_in_flight"] = row.now.calls_in_flight();
    json["resident_bytes"] = row.now.resident_bytes();
    json["bulk"] = BulkJson(BulkPlaceOf(row.now));
    json["rejected_per_second"] = row.rates.rejected;
    json["rejected"] = RejectedOf(row.now);
    json.update(ToJson(row.rates.all));
    json["latency_seconds"] = LatencyJson(row.latency);
    json["methods"] = nlohmann::ordered_json::array();
    for (const MethodRates& method : row.rates.methods) {
      nlohmann::ordered_json entry = {{"method", method.method}};
      entry.update(ToJson(method));
      entry["latency_seconds"] = LatencyJson(row.by_method.at(method.method));
      json["methods"].push_back(std::move(entry));
    }
    servers.push_back(std::move(json));
  }
  PrintJson({{"servers", servers}}, out);
}

std::string PerSecond(double rate) {
  return rate > 0 && rate < 10 ? absl::StrFormat("%.1f", rate) : HumanCount(std::llround(rate));
}

std::string StateOf(const Row& row) {
  if (!row.status.ok()) return AbsenceOf(row.status);
  for (const proto::ShardStatus& shard : row.now.shards()) {
    if (!shard.fault().empty()) return "faulty";
  }
  return "ok";
}

// Methods that some server was asked for; the others would be columns of zeros.
std::set<std::string> MethodsInUse(const std::vector<Row>& rows) {
  std::set<std::string> methods;
  for (const Row& row : rows) {
    for (const MethodRates& method : row.rates.methods) {
      if (method.calls > 0) methods.insert(method.method);
    }
  }
  return methods;
}

double CallsOf(const LoadRates& rates, const std::string& method) {
  for (const MethodRates& known : rates.methods) {
    if (known.method == method) return known.calls;
  }
  return 0;
}

void PrintAsTable(const std::vector<Row>& rows, std::ostream& out) {
  constexpr auto kRight = Table::Align::kRight;
  std::vector<Table::Column> columns = {{"SERVER"},
                                        {"STATE"},
                                        {"IN FLIGHT", kRight},
                                        {"MEMORY", kRight},
                                        {"SENT/S", kRight},
                                        {"REJECTED", kRight},
                                        {"REJECTED/S", kRight},
                                        {"FAILED/S", kRight},
                                        {"CALLS/S", kRight},
                                        {"P50", kRight},
                                        {"P99", kRight},
                                        {"BULK"}};
  const std::set<std::string> methods = MethodsInUse(rows);
  for (const std::string& method : methods) {
    columns.push_back({absl::AsciiStrToUpper(method) + "/S", kRight});
  }
  Table table(columns);
  for (const Row& row : rows) {
    std::vector<std::string> cells = {row.target.name, StateOf(row)};
    if (row.status.ok()) {
      cells.insert(cells.end(),
                   {HumanCount(row.now.calls_in_flight()),
                    HumanBytes(static_cast<int64_t>(row.now.resident_bytes())),
                    HumanBytes(std::llround(row.rates.all.bytes)),
                    HumanCount(static_cast<int64_t>(RejectedOf(row.now))),
                    PerSecond(row.rates.rejected), PerSecond(row.rates.all.failed),
                    PerSecond(row.rates.all.calls), LatencyText(row.latency, row.latency.p50),
                    LatencyText(row.latency, row.latency.p99), BulkText(BulkPlaceOf(row.now))});
      for (const std::string& method : methods) {
        cells.push_back(PerSecond(CallsOf(row.rates, method)));
      }
    }
    table.AddRow(std::move(cells));
  }
  table.Print(out);
  for (const Row& row : rows) {
    if (!row.status.ok()) out << row.target.name << ": " << row.status.message() << '\n';
  }
}

absl::Status RunTop(const TopFlags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets, TargetsOf(flags.servers));
  const bool redraws =
      !flags.once && flags.servers.format == OutputFormat::kTable && isatty(STDOUT_FILENO) == 1;
  const int64_t count = flags.once ? 1 : flags.count;
  Answers before = AskAll(targets, flags.servers.timeout(), &AskStatusAndMetrics);
  for (int64_t shown = 0; (count == 0 || shown < count) && out; ++shown) {
    absl::SleepFor(absl::Seconds(flags.interval_seconds));
    Answers after = AskAll(targets, flags.servers.timeout(), &AskStatusAndMetrics);
    const std::vector<Row> rows = Compare(targets, before, after);
    if (redraws) out << "\x1b[H\x1b[2J";  // home, and clear
    if (flags.servers.format == OutputFormat::kJson) {
      PrintAsJson(rows, out);
    } else {
      PrintAsTable(rows, out);
    }
    out.flush();
    before = std::move(after);
  }
  return absl::OkStatus();
}

}  // namespace

Action DeclareTop(CLI::App* app) {
  const auto flags = std::make_shared<TopFlags>();
  flags->servers.timeout_seconds = 2;  // who takes longer is a row without numbers
  AddServersFlags(app, &flags->servers);
  app->add_option("--interval", flags->interval_seconds, "seconds between looks")
      ->capture_default_str()
      ->check(InRange(0.05, 3600.0));
  app->add_flag("--once", flags->once, "one table, of one interval");
  app->add_option("--count", flags->count, "tables to show (0: until interrupted)")
      ->capture_default_str()
      ->check(InRange(int64_t{0}, int64_t{1} << 40));
  return [flags](const ToolContext&, std::ostream& out) { return RunTop(*flags, out); };
}

}  // namespace vicinity::cli

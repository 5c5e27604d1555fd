#include "client/cli/commands/operate/why_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/commands/operate/metrics_source.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/output.h"
#include "client/why/metric_samples.h"
#include "client/why/server_numbers.h"
#include "client/why/trainer_numbers.h"
#include "client/why/verdict.h"
#include "proto/common/file.h"
#include "proto/common/status.h"
#include "proto/service.pb.h"

namespace vicinity::cli {
namespace {

constexpr double kLongest = 3600;  // seconds
constexpr absl::Duration kBetweenReadings = absl::Milliseconds(250);

struct Flags {
  std::string source;
  ServersFlags servers;
  double seconds = 10;
  std::optional<std::string> trainer;
  std::optional<std::string> loader;
  std::string plan;
  double link_gbps = 0;
};

// What was measured, and how.
struct Measured {
  TrainerNumbers trainer;
  std::vector<ServerNumbers> servers;
  std::vector<std::string> notes;
};

MetricSamples SamplesOf(const proto::StatusReply& reply) {
  MetricSamples samples;
  for (const proto::MetricStatus& metric : reply.metrics()) {
    MetricSample sample;
    sample.name = metric.name();
    sample.value = metric.value();
    for (const proto::MetricLabel& label : metric.labels()) {
      sample.labels.emplace(label.name(), label.value());
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

bool AsksServers(const Flags& flags) {
  return !flags.servers.cluster.empty() || !flags.servers.addresses.empty();
}

// Of all loaders the one that trains most, of those that were asked for.
absl::StatusOr<TrainerNumbers> Choose(const Flags& flags, std::vector<TrainerNumbers> loaders) {
  const TrainerNumbers* chosen = nullptr;
  std::string there;
  for (const TrainerNumbers& loader : loaders) {
    absl::StrAppend(&there, there.empty() ? "" : "; ", "loader ", loader.loader);
    if (!loader.trainer.empty()) absl::StrAppend(&there, " of trainer ", loader.trainer);
    if (flags.trainer.value_or(loader.trainer) != loader.trainer) continue;
    if (flags.loader.value_or(loader.loader) != loader.loader) continue;
    if (chosen == nullptr || loader.stage("train").batches > chosen->stage("train").batches) {
      chosen = &loader;
    }
  }
  if (chosen != nullptr) return *chosen;
  return absl::NotFoundError(absl::StrCat(flags.source, " has no such loader, but ", there));
}

absl::StatusOr<std::vector<TrainerNumbers>> ReadLoaders(const Flags& flags) {
  VICINITY_ASSIGN_OR_RETURN(const MetricSamples samples,
                            ReadMetrics(flags.source, flags.servers.timeout()));
  absl::StatusOr<std::vector<TrainerNumbers>> loaders = LoadersIn(samples);
  if (!loaders.ok()) return At(flags.source, loaders.status());
  return loaders;
}

// Asks all servers again and again until `end`.
absl::Status Watch(const std::vector<ServerTarget>& targets, const Flags& flags, absl::Time end,
                   Measured* measured) {
  std::vector<ServerWatch> watches;
  for (const ServerTarget& target : targets) watches.emplace_back(target.name);
  std::vector<absl::Status> last(targets.size());
  while (true) {
    const absl::Time began = absl::Now();
    const bool is_last = began >= end;
    const auto answers = AskAll(targets, flags.servers.timeout(), AskStatusAndMetrics);
    const double now = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
    for (size_t i = 0; i < targets.size(); ++i) {
      last[i] = answers[i].status();
      if (answers[i].ok()) watches[i].Add(now, SamplesOf(*answers[i]));
    }
    if (is_last) break;
    // They have more to do than to answer this.
    const absl::Duration pause = std::max(kBetweenReadings, 4 * (absl::Now() - began));
    absl::SleepFor(std::min(pause, end - absl::Now()));
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (watches[i].num_readings() > 1) {
      measured->servers.push_back(watches[i].Numbers());
    } else {
      measured->notes.push_back(
          absl::StrCat("server ", targets[i].name, " does not answer: ", last[i].message()));
    }
  }
  return measured->servers.empty() ? OutcomeOf(targets, last) : absl::OkStatus();
}

absl::StatusOr<Measured> Measure(const Flags& flags) {
  std::vector<ServerTarget> targets;
  if (AsksServers(flags)) {
    VICINITY_ASSIGN_OR_RETURN(targets, TargetsOf(flags.servers));
  }
  Measured measured;
  VICINITY_ASSIGN_OR_RETURN(const std::vector<TrainerNumbers> before, ReadLoaders(flags));
  if (targets.empty() && !IsAddress(flags.source)) {
    VICINITY_ASSIGN_OR_RETURN(measured.trainer, Choose(flags, before));
    return measured;
  }
  const absl::Time end = absl::Now() + absl::Seconds(flags.seconds);
  if (!targets.empty()) VICINITY_RETURN_IF_ERROR(Watch(targets, flags, end, &measured));
  absl::SleepFor(end - absl::Now());
  VICINITY_ASSIGN_OR_RETURN(const std::vector<TrainerNumbers> after, ReadLoaders(flags));
  std::vector<TrainerNumbers> between;
  for (const TrainerNumbers& loader : after) {
    const auto same = std::find_if(before.begin(), before.end(), [&loader](const auto& earlier) {
      return earlier.trainer == loader.trainer && earlier.loader == loader.loader;
    });
    between.push_back(same == before.end() ? loader : Between(*same, loader));
  }
  VICINITY_ASSIGN_OR_RETURN(measured.trainer, Choose(flags, between));
  if (measured.trainer.stage("train").batches < 1) {
    // A report of a training that is over, or of one that has not gone on.
    VICINITY_ASSIGN_OR_RETURN(measured.trainer, Choose(flags, after));
    measured.notes.push_back(absl::StrFormat(
        "the trainer has trained on no batch in %g s: these are its numbers since it began",
        flags.seconds));
  }
  return measured;
}

// The output of `vicinity plan --format json`.
absl::StatusOr<std::vector<PlannedCache>> ReadPlan(const std::string& path) {
  VICINITY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto number = [](const nlohmann::json& size, const char* field) {
    return size.is_object() && size.contains(field) && size[field].is_number();
  };
  const bool is_plan = json.is_object() && json.contains("by_cache_size") &&
                       json["by_cache_size"].is_array() && !json["by_cache_size"].empty();
  std::vector<PlannedCache> plan;
  for (const nlohmann::json& size : is_plan ? json["by_cache_size"] : nlohmann::json::array()) {
    if (!number(size, "cache_rows") || !number(size, "cache_bytes") ||
        !number(size, "remote_rows_per_batch")) {
      plan.clear();
      break;
    }
    plan.push_back({size["cache_rows"], size["cache_bytes"], size["remote_rows_per_batch"]});
  }
  if (!plan.empty()) return plan;
  return absl::InvalidArgumentError(
      absl::StrCat(path, " is no output of `vicinity plan --format json`"));
}

const char* Sentence(Bound bound) {
  switch (bound) {
    case Bound::kUnknown:
      break;
    case Bound::kDevice:
      return "The trainer's own step bounds it: its model, its device.";
    case Bound::kLink:
      return "The link to the servers bounds it.";
    case Bound::kServerCpu:
      return "The servers' cores bound it.";
    case Bound::kSampling:
      return "Sampling bounds it.";
    case Bound::kDisk:
      return "Servers that read from disks bound it.";
    case Bound::kLoader:
      return "The loader's own work bounds it.";
    case Bound::kRemote:
      return "The servers or the link bound it.";
  }
  return "Too little was measured to say what bounds it: watch longer (--seconds).";
}

void PrintAsText(const Verdict& verdict, const Measured& measured, std::ostream& out) {
  out << Sentence(verdict.bound) << '\n';
  if (!verdict.evidence.empty()) out << "\nEvidence:\n";
  for (const std::string& sentence : verdict.evidence) out << "  - " << sentence << '\n';
  if (!verdict.advice.empty()) out << "\nWhat would help:\n";
  for (const Advice& advice : verdict.advice) {
    out << "  - " << advice.what;
    if (advice.speedup > 0) {
      out << absl::StrFormat(": up to %.2f times as many batches a second", advice.speedup);
    }
    out << '\n';
  }
  if (!measured.notes.empty()) out << '\n';
  for (const std::string& note : measured.notes) out << "Note: " << note << '\n';
}

void PrintAsJson(const Verdict& verdict, const Measured& measured, std::ostream& out) {
  nlohmann::ordered_json json;
  json["bound"] = BoundName(verdict.bound);
  json["stage"] = verdict.stage;
  json["trainer"] = measured.trainer.trainer;
  json["loader"] = measured.trainer.loader;
  json["seconds"] = measured.trainer.seconds();
  json["batches"] = measured.trainer.stage("train").batches;
  json["seconds_per_batch"] = verdict.batch_seconds;
  json["waits"] = verdict.waits;
  json["evidence"] = verdict.evidence;
  json["advice"] = nlohmann::ordered_json::array();
  for (const Advice& advice : verdict.advice) {
    nlohmann::ordered_json each = {{"what", advice.what}};
    each["speedup"] = nullptr;
    if (advice.speedup > 0) each["speedup"] = advice.speedup;
    json["advice"].push_back(std::move(each));
  }
  json["notes"] = measured.notes;
  PrintJson(json, out);
}

absl::Status RunWhy(const Flags& flags, std::ostream& out) {
  if (flags.seconds <= 0 || flags.seconds > kLongest) {
    return absl::InvalidArgumentError(
        absl::StrCat("--seconds ", flags.seconds, " is not above 0 and up to ", kLongest));
  }
  if (flags.link_gbps < 0) {
    return absl::InvalidArgumentError(absl::StrCat("--link-gbps ", flags.link_gbps, " is below 0"));
  }
  JudgeOptions options;
  options.link_bytes_per_second = flags.link_gbps * 1e9 / 8;
  if (!flags.plan.empty()) {
    VICINITY_ASSIGN_OR_RETURN(options.plan, ReadPlan(flags.plan));
  }
  VICINITY_ASSIGN_OR_RETURN(const Measured measured, Measure(flags));
  const Verdict verdict = Judge(measured.trainer, measured.servers, options);
  if (flags.servers.format == OutputFormat::kJson) {
    PrintAsJson(verdict, measured, out);
  } else {
    PrintAsText(verdict, measured, out);
  }
  return absl::OkStatus();
}

}  // namespace

Action DeclareWhy(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("SOURCE", flags->source,
                  "the trainer's metrics: http://HOST:PORT of a running one, or a file of metrics")
      ->required();
  app->add_option("--seconds", flags->seconds, "how long a running trainer is watched");
  app->add_option("--trainer", flags->trainer, "its label `trainer`, where the file has several");
  app->add_option("--loader", flags->loader,
                  "which of its loaders; default: that which trains most");
  app->add_option(
         "--plan", flags->plan,
         "output of `vicinity plan --format json` for this trainer: what caches would save")
      ->type_name("FILE");
  app->add_option("--link-gbps", flags->link_gbps, "of the trainer's link, in Gbit/s");
  AddServersFlags(app, &flags->servers);
  return [flags](const ToolContext&, std::ostream& out) { return RunWhy(*flags, out); };
}

}  // namespace vicinity::cli

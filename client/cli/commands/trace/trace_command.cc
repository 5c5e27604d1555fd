#include "client/cli/commands/trace/trace_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/commands/trace/otlp_reader.h"
#include "client/cli/commands/trace/timeline.h"
#include "client/cli/commands/trace/trace_tree.h"
#include "client/cli/flags/server_call.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/output.h"
#include "proto/admin.grpc.pb.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using proto::Admin;

constexpr int kMostTraces = 1000;

struct TraceFlags {
  ServersFlags servers;
  std::vector<std::string> files;  // of trainers
  int slowest = 5;
  std::vector<std::string> ids;  // instead
  std::string picture;           // empty: none
};

// What all servers answer. What they left out is added to `left_out`, what went wrong goes to
// `statuses`, by server.
absl::Status AskServers(const TraceFlags& flags, const std::vector<ServerTarget>& targets,
                        const proto::TracesRequest& request, std::vector<ShownSpan>* spans,
                        uint64_t* left_out, std::vector<absl::Status>* statuses) {
  const auto answers =
      AskAll(targets, flags.servers.timeout(),
             [&request](const ServerTarget& server, absl::Duration limit) {
               return CallServer<Admin>(server, limit, &Admin::Stub::Traces, request);
             });
  statuses->clear();
  for (size_t i = 0; i < targets.size(); ++i) {
    statuses->push_back(answers[i].status());
    if (!answers[i].ok()) continue;
    *left_out += answers[i]->left_out();
    VICINITY_RETURN_IF_ERROR(At(targets[i].name, ReadOtlp(answers[i]->otlp(), spans)));
  }
  return absl::OkStatus();
}

nlohmann::ordered_json JsonOf(const TraceTree& tree) {
  nlohmann::ordered_json spans = nlohmann::ordered_json::array();
  for (const TraceLine& line : tree.lines) {
    const ShownSpan& span = line.span;
    nlohmann::ordered_json attributes = nlohmann::ordered_json::object();
    for (const auto& attribute : span.attributes) attributes[attribute.first] = attribute.second;
    spans.push_back({{"id", span.id},
                     {"parent", span.parent},
                     {"name", span.name},
                     {"process", span.process},
                     {"depth", line.depth},
                     {"start_unix_ns", span.start},
                     {"end_unix_ns", span.end},
                     {"error", span.error},
                     {"attributes", std::move(attributes)}});
  }
  return {{"trace", tree.id}, {"slow_ns", tree.slowness}, {"spans", std::move(spans)}};
}

absl::Status Print(const TraceFlags& flags, const std::vector<TraceTree>& trees,
                   const ToolContext& tool, std::ostream& out) {
  if (!flags.picture.empty()) {
    VICINITY_RETURN_IF_ERROR(WriteFileAtomically(flags.picture, SvgTimelines(trees)));
  }
  if (flags.servers.format == OutputFormat::kJson) {
    nlohmann::ordered_json traces = nlohmann::ordered_json::array();
    for (const TraceTree& tree : trees) traces.push_back(JsonOf(tree));
    PrintJson({{"traces", std::move(traces)}}, out);
    return absl::OkStatus();
  }
  PrintTimelines(trees, out);
  if (trees.empty()) {
    *tool.narration << "no traces: batches are traced as the option trace_share says, and 0 is "
                       "none\n";
  }
  return absl::OkStatus();
}

// The ids of the slowest of what is known, or those that are asked for.
std::vector<std::string> Choose(const TraceFlags& flags, const std::vector<TraceTree>& trees) {
  if (!flags.ids.empty()) return flags.ids;
  std::vector<std::string> ids;
  for (const TraceTree& tree : trees) {
    if (ids.size() < static_cast<size_t>(flags.slowest)) ids.push_back(tree.id);
  }
  return ids;
}

absl::Status RunTrace(const TraceFlags& flags, const ToolContext& tool, std::ostream& out) {
  const bool asks = !flags.servers.cluster.empty() || !flags.servers.addresses.empty();
  if (flags.files.empty() && !asks) {
    return absl::InvalidArgumentError("say where traces are: --cluster, --server, or a FILE");
  }
  std::vector<ShownSpan> spans;
  for (const std::string& file : flags.files) VICINITY_RETURN_IF_ERROR(ReadOtlpFile(file, &spans));
  std::vector<ServerTarget> targets;
  std::vector<absl::Status> statuses;
  uint64_t left_out = 0;
  if (asks) {
    VICINITY_ASSIGN_OR_RETURN(targets, AdminTargetsOf(flags.servers));
    // A trainer's file knows which of its batches were slow; without one each server names its own.
    proto::TracesRequest request;
    request.set_slowest(flags.files.empty() && flags.ids.empty() ? flags.slowest : 0);
    VICINITY_RETURN_IF_ERROR(AskServers(flags, targets, request, &spans, &left_out, &statuses));
  }
  const std::vector<std::string> ids = Choose(flags, TreesOf(spans));
  if (asks && !ids.empty()) {
    proto::TracesRequest request;
    for (const std::string& id : ids) request.add_trace_ids(id);
    VICINITY_RETURN_IF_ERROR(AskServers(flags, targets, request, &spans, &left_out, &statuses));
  }
  spans.erase(std::remove_if(spans.begin(), spans.end(),
                             [&ids](const ShownSpan& span) {
                               return std::find(ids.begin(), ids.end(), span.trace) == ids.end();
                             }),
              spans.end());
  if (left_out > 0) {
    *tool.narration << left_out << " calls are left out: ask for fewer traces\n";
  }
  VICINITY_RETURN_IF_ERROR(Print(flags, TreesOf(std::move(spans)), tool, out));
  return OutcomeOf(targets, statuses);
}

}  // namespace

Action DeclareTrace(CLI::App* app) {
  const auto flags = std::make_shared<TraceFlags>();
  AddServersFlags(app, &flags->servers);
  app->add_option("FILE", flags->files, "what trainers have written (the option trace_file)");
  CLI::Option* slowest =
      app->add_option("--slowest", flags->slowest, "so many traces, the slowest first")
          ->check(CLI::Range(1, kMostTraces))
          ->capture_default_str();
  app->add_option("--id", flags->ids, "these traces instead, as logs name them")
      ->delimiter(',')
      ->excludes(slowest);
  app->add_option("--picture", flags->picture, "also draw them to this SVG file");
  return
      [flags](const ToolContext& tool, std::ostream& out) { return RunTrace(*flags, tool, out); };
}

}  // namespace vicinity::cli
